#!lua
-- Replaces a code that one user may take once.
-- KEYS[1]  the code of the user
-- ARGV     time, how long it is valid in ms, then names and values of other fields
-- Returns  1
--!include _clock
local now = clock(ARGV[1])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'expires', string.format('%.0f', now + tonumber(ARGV[2])), unpack(ARGV, 3))
return 1
