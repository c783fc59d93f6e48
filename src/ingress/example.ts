/** The contents of all forms' examples. */
export const EXAMPLE = {
  model: 'my-model',
  query: 'Which planet has the most moons?',
  texts: ['Mercury has no moons at all.', 'Saturn has well over a hundred moons.'],
} as const;
