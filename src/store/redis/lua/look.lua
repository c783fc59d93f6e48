#!lua flags=no-writes
-- Shows what a change is to be worked out from.
-- KEYS     every key that is looked at
-- ARGV     time, '', number of looks, the looks as in _look.lua
-- Returns  {digest, time ms, answers}
--!include _clock
--!include _look
return (look())
