#!lua flags=no-writes
-- What nodes have noted, each under its id.
-- KEYS     a hash: what they have in force, or what they tell of themselves
-- ARGV     time
-- Returns  {time ms, node, note, ...}
--!include _clock
local now = clock(ARGV[1])
return { now, unpack(redis.call('HGETALL', KEYS[1])) }
