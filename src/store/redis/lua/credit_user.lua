#!lua
-- Second step of redeeming: credits the user, once per claim. The decision is kept, so that whoever completes the claim
-- later decides the same.
-- KEYS     user, its credits
-- ARGV     code id, claim number, quota, largest balance
-- Returns  'credited'; 'already' if it was credited before; 'quota_range'; 'unknown' if the user does not exist; 'over' if
--          there has been a newer claim of this code, so that this one must have ended
local decisions = KEYS[2]
local quota = redis.call('HGET', KEYS[1], 'quota')
if not quota then return 'unknown' end
local decided = redis.call('HGET', decisions, ARGV[1])
if decided then
  local claim, decision = string.match(decided, '^(%d+):(.*)$')
  if tonumber(claim) > tonumber(ARGV[2]) then return 'over' end
  if claim == ARGV[2] then return decision == 'credited' and 'already' or decision end
end
local decision = 'credited'
if tonumber(quota) + tonumber(ARGV[3]) > tonumber(ARGV[4]) then
  decision = 'quota_range'
else
  redis.call('HINCRBY', KEYS[1], 'quota', ARGV[3])
end
redis.call('HSET', decisions, ARGV[1], ARGV[2] .. ':' .. decision)
return decision
