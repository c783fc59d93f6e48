#!lua
-- Takes a one-time code, or counts a wrong attempt.
-- KEYS[1]  the one-time code of the user
-- ARGV     hash of the given code, time, number of wrong attempts that voids it
-- Returns  1 if it was the right one, else 0
--!include _clock
local now = clock(ARGV[2])
local code = redis.call('HMGET', KEYS[1], 'hash', 'expires')
if not code[1] then return 0 end
if tonumber(code[2]) <= now then
  redis.call('DEL', KEYS[1])
  return 0
end
if code[1] == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return 1
end
if redis.call('HINCRBY', KEYS[1], 'attempts', 1) >= tonumber(ARGV[3]) then redis.call('DEL', KEYS[1]) end
return 0
