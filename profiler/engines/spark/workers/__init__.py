"""What Python workers on this machine are started with; the folder is on their path, for it has to be found by itself.

Spark starts its daemon by the name of a module, in the user's folder: one called `profiler` there would hide this
package.
"""
