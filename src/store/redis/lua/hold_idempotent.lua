#!lua
-- Claims an idempotency key.
-- KEYS[1]  the record of the key
-- ARGV     fingerprint, time, claim ms
-- Returns  {'fresh'}, {'running'}, {'mismatch'} or {'done', status, body}
--!include _clock
local now = clock(ARGV[2])
local held = redis.call('HMGET', KEYS[1], 'fingerprint', 'until', 'status', 'body')
if held[1] and tonumber(held[2]) > now then
  if held[1] ~= ARGV[1] then return { 'mismatch' } end
  if held[3] then return { 'done', held[3], held[4] } end
  return { 'running' }
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'until', string.format('%.0f', now + tonumber(ARGV[3])))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return { 'fresh' }
