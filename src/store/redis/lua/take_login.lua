#!lua
-- Claims a name and an address for an account, both or neither. Each claim `<id>:<ms>:<mark>` is unique, so that releasing one
-- cannot hit a later one.
-- KEYS     names, addresses, ids of accounts
-- ARGV     account id, the claim to write, name or '', address or '', then pairs to take over: 'names' or 'emails', the
--          stale claim
-- Returns  {}, or {'names' or 'emails', the claim that is in the way}
local id, claim = ARGV[1], ARGV[2]
local stale = {}
for i = 5, #ARGV, 2 do
  stale[ARGV[i]] = ARGV[i + 1]
end
local wanted = { { 'names', ARGV[3], KEYS[1] }, { 'emails', ARGV[4], KEYS[2] } }
for _, want in ipairs(wanted) do
  if want[2] ~= '' then
    local held = redis.call('HGET', want[3], want[2])
    if held and held ~= stale[want[1]] and string.match(held, '^%d+') ~= id then return { want[1], held } end
  end
end
for _, want in ipairs(wanted) do
  if want[2] ~= '' then redis.call('HSET', want[3], want[2], claim) end
end
redis.call('ZADD', KEYS[3], id, id)
return {}
