#!lua
-- Takes a duty that is due, for a given time; a duty that nobody takes any more is forgotten after a day.
-- KEYS[1]  the duty
-- ARGV     time, ms for which it is taken
-- Returns  {1 if taken else 0, due ms, note}
--!include _clock
local now = clock(ARGV[1])
local fields = redis.call('HMGET', KEYS[1], 'due', 'note')
local due, note = tonumber(fields[1] or 0), fields[2] or ''
if due > now then return { 0, due, note } end
due = now + tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due))
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) + 86400000)
return { 1, due, note }
