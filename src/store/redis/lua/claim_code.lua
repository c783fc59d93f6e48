-- First step of redeeming: marks the code as used by a user, and notes the claim until the credit is certain. The claim is
-- a member `<code id>:<claim number>:<user id>:<quota>` of `:claims`, scored with when it was made.
-- KEYS[1]  the codes; touches `:hashes`, `:<id>` and `:claims` below it
-- ARGV     hash of the code, user id, now ms
-- Returns  the claim, this user's own unfinished one included; or nil and the reason: 'unknown', 'disabled', 'used', 'expired'
local claims = KEYS[1] .. ':claims'
local id = redis.call('HGET', KEYS[1] .. ':hashes', ARGV[1])
if not id then return { false, 'unknown' } end
local key = KEYS[1] .. ':' .. id
local code = redis.call('HMGET', key, 'status', 'quota', 'expires', 'claim', 'user')
local function member(claim)
  return id .. ':' .. claim .. ':' .. ARGV[2] .. ':' .. code[2]
end
if code[1] == 'used' then
  local own = member(code[4])
  if code[5] == ARGV[2] and redis.call('ZSCORE', claims, own) then return { own } end
  return { false, 'used' }
end
if code[1] == 'disabled' then return { false, 'disabled' } end
local expires = tonumber(code[3])
if expires ~= 0 and expires * 1000 <= tonumber(ARGV[3]) then return { false, 'expired' } end
local claim = redis.call('HINCRBY', key, 'claim', 1)
redis.call('HSET', key, 'status', 'used', 'user', ARGV[2], 'redeemed', math.floor(tonumber(ARGV[3]) / 1000))
redis.call('ZADD', claims, ARGV[3], member(claim))
return { member(claim) }
