/** Sentences for owners about work that was not answered. */
export const workReasons = {
  off: 'The agent does not run, and its lifecycle.wake_on_message is false.',
  tooOften: 'The turn was begun several times and never came to its end.',
  ours: 'Something failed within this service.',
  closing: 'The service ended while the agent was at work.',
} as const;
