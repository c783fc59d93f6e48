#!lua
-- First step of redeeming: marks the code as used by a user, and keeps the claim until the credit is certain. The claim is a
-- member `<code id>:<claim number>:<user id>:<quota>` of the claims, scored with the time it was made.
-- KEYS     hashes, claims, the record of the code
-- ARGV     hash of the code, its id, user id, time
-- Returns  the claim, which may be this user's own unfinished one; or nil and the reason: 'unknown', 'used',
--          'own' for the maker of the code, 'disabled', 'expired'
--!include _clock
local now = clock(ARGV[4])
local id, user_id, key = ARGV[2], ARGV[3], KEYS[3]
if redis.call('HGET', KEYS[1], ARGV[1]) ~= id then return { false, 'unknown' } end
local code = redis.call('HMGET', key, 'status', 'quota', 'expires', 'claim', 'user', 'creator')
local function member(claim)
  return id .. ':' .. claim .. ':' .. user_id .. ':' .. code[2]
end
if code[1] == 'used' then
  local own = member(code[4])
  if code[5] == user_id and redis.call('ZSCORE', KEYS[2], own) then return { own } end
  return { false, 'used' }
end
if code[6] == user_id then return { false, 'own' } end
if code[1] == 'disabled' then return { false, 'disabled' } end
local expires = tonumber(code[3])
if expires ~= 0 and expires * 1000 <= now then return { false, 'expired' } end
local claim = redis.call('HINCRBY', key, 'claim', 1)
redis.call('HSET', key, 'status', 'used', 'user', user_id, 'redeemed', math.floor(now / 1000))
redis.call('ZADD', KEYS[2], string.format('%.0f', now), member(claim))
return { member(claim) }
