#!lua flags=no-writes
-- Reads what nodes have noted, each under its id.
-- KEYS     a hash: what they have in force, or what they report about themselves
-- ARGV     time
-- Returns  {time ms, node, note, ...}
--!include _clock
local now = clock(ARGV[1])
return { now, unpack(redis.call('HGETALL', KEYS[1])) }
