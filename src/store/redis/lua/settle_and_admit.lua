#!lua
-- Settles reservations of one user, then admits requests of the same user.
-- KEYS     user, its reservations, every token that is named below
-- ARGV     number of settlements, then one argument for each settlement and each admission, separated by spaces:
--          token id, reservation id, reserved amount, cost, 1 if a ranking was delivered
--          token id, version, reservation id, amount, time, ms that the reservation lasts
-- Returns  two lists: for each settlement what was charged, or nil if the reservation does not exist; for each admission
--          1 if admitted; {1, limit, remaining, reset ms} if its rate was counted; the reason if refused;
--          {'rate', limit, remaining, reset ms, retry after ms};
--          {'token_budget' or 'user_budget', limit, spent, end of the window, period, zone};
--          {'stale', user enabled, the token's fields and values}; {'more keys', token ids...} if nothing was done because reservations
--          of these must be given back first; {'window', time, period and zone of the user's budget, the same of the
--          token's} if nothing was done because new windows must begin first, with '' where there is no budget
--!include _clock
--!include _budget
--!include _give_back
--!include _rate
--!include _settle
--!include _admit
local settlements = tonumber(ARGV[1])
local tokens = tokens_from(3)
local charged = settle_all(KEYS[1], KEYS[2], tokens, 2, settlements + 1)
return { charged, admit_all(KEYS[1], KEYS[2], tokens, settlements + 2, #ARGV) }
