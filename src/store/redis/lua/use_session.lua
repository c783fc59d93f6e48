#!lua
-- Finds a live session, notes its use, and extends its expiry unless it is an access token.
-- KEYS     the sessions of the user, what is known about them
-- ARGV     session id, time, slide ms, the ms in which a further use is not noted
-- Returns  {kind, created ms, expires ms, ends ms, used ms, where it was made from}, or nil
--!include _clock
local record = redis.call('HGET', KEYS[1], ARGV[1])
if not record then return false end
local kind, created, expires, ends = string.match(record, '^([^:]*):(%d+):(%d+):(%d+)$')
local now = clock(ARGV[2])
if tonumber(expires) <= now then return false end
if kind == 'session' then
  expires = string.format('%.0f', math.min(now + tonumber(ARGV[3]), tonumber(ends)))
  redis.call('HSET', KEYS[1], ARGV[1], kind .. ':' .. created .. ':' .. expires .. ':' .. ends)
end
local used = redis.call('HGET', KEYS[2], ARGV[1] .. ':used') or created
if now - tonumber(used) >= tonumber(ARGV[4]) then
  used = string.format('%.0f', now)
  redis.call('HSET', KEYS[2], ARGV[1] .. ':used', used)
end
return { kind, created, expires, ends, used, redis.call('HGET', KEYS[2], ARGV[1]) }
