#!lua flags=no-writes
-- Reads what the nodes have reported, for those who wait until something is in force.
-- KEYS     nodes
-- ARGV     time
-- Returns  {time ms, report, ...}
--!include _clock
local now = clock(ARGV[1])
return { now, unpack(redis.call('HVALS', KEYS[1])) }
