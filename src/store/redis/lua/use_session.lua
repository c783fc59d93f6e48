#!lua
-- Finds a live session, and extends its expiry unless it is an access token.
-- KEYS[1]  the sessions of the user
-- ARGV     session id, time, slide ms
-- Returns  {kind, created ms, expires ms, ends ms}, or nil
--!include _clock
local record = redis.call('HGET', KEYS[1], ARGV[1])
if not record then return false end
local kind, created, expires, ends = string.match(record, '^([^:]*):(%d+):(%d+):(%d+)$')
local now = clock(ARGV[2])
if tonumber(expires) <= now or tonumber(ends) <= now then return false end
if kind == 'session' then
  expires = string.format('%.0f', math.min(now + tonumber(ARGV[3]), tonumber(ends)))
  redis.call('HSET', KEYS[1], ARGV[1], kind .. ':' .. created .. ':' .. expires .. ':' .. ends)
end
return { kind, created, expires, ends }
