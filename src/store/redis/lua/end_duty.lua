#!lua
-- Ends a duty: it is due again after a while, with a note for all.
-- KEYS[1]  the duty
-- ARGV     time, ms until it is due again, note
--!include _clock
local due = (clock(ARGV[1])) + tonumber(ARGV[2])
redis.call('HSET', KEYS[1], 'due', string.format('%.0f', due), 'note', ARGV[3])
redis.call('PEXPIRE', KEYS[1], tonumber(ARGV[2]) + 86400000)
