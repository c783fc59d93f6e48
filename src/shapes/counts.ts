import Joi from 'joi';

/** What cannot be negative or broken: ids, sums, times, bytes. */
export const COUNT = Joi.number().integer().min(0);
export const REQUIRED_COUNT = COUNT.required();
