#!lua
-- Gives back the unused part of a share, if the window that it was taken in still lasts.
-- KEYS[1]  what was taken
-- ARGV     time, units
-- Returns  1 if it counts, else 0
--!include _clock
local now = clock(ARGV[1])
local fields = redis.call('HMGET', KEYS[1], 'window', 'current')
if now >= tonumber(fields[1] or 0) then return 0 end
redis.call('HSET', KEYS[1], 'current', string.format('%.0f', math.max(0, tonumber(fields[2]) - tonumber(ARGV[2]))))
return 1
