#!lua
-- Keeps the reply to a request, unless the key already has one, or the claim has expired and another request holds the key.
-- KEYS[1]  the record of the key
-- ARGV     fingerprint, status, body, time, keep ms
-- Returns  nothing
--!include _clock
local now = clock(ARGV[4])
local held = redis.call('HMGET', KEYS[1], 'fingerprint', 'until', 'status')
if held[1] and tonumber(held[2]) > now and (held[1] ~= ARGV[1] or held[3]) then return end
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'status', ARGV[2], 'body', ARGV[3], 'until',
  string.format('%.0f', now + tonumber(ARGV[5])))
redis.call('PEXPIRE', KEYS[1], ARGV[5])
