import Joi from 'joi';

// The domain decides how long a name may be; these bounds keep absurd ones away from it.
export const USERNAME = Joi.string().max(320);
export const PASSWORD = Joi.string().max(1_024);
export const EMAIL = Joi.string().max(320);
export const DISPLAY_NAME = Joi.string().max(1_024);
/** Clients send empty texts for members that they leave unchanged. */
export const KEEP = Joi.string().max(1_024).empty('');
