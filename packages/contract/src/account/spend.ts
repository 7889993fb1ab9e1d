import { Type } from 'typebox';
import type { Static } from 'typebox';
import { withRules } from '../rules.ts';
import { nullable, oneOf, patterns } from '../text.ts';

const amount = (description: string) =>
  nullable(Type.String({ minLength: 1, maxLength: 16, pattern: patterns.usd, description, examples: ['5', '12.50'] }));

/** The limit of an agent's or an account's spending on model calls. */
export const SpendLimit = Type.Object(
  {
    daily_usd: Type.Optional(amount('Most in a day (UTC), in US dollars; null: no bound.')),
    monthly_usd: Type.Optional(amount('Most in a month (UTC), in US dollars; null: no bound.')),
    action: oneOf(['block', 'pause'], {
      description:
        '`block`: once it is reached, model calls are refused until the window ends. `pause`: the agent is put to sleep as well, and no message wakes it before.',
    }),
  },
  { title: 'SpendLimit', additionalProperties: false },
);
/** The same as it is set: with one bound at least. */
export const SpendLimitInput = withRules(
  { ...SpendLimit, title: 'SpendLimitInput' },
  {
    description: 'needs daily_usd or monthly_usd; null removes the limit',
    anyOf: ['daily_usd', 'monthly_usd'].map((name) => ({
      properties: { [name]: { type: 'string' } },
      required: [name],
    })),
  },
);
export type SpendLimit = Static<typeof SpendLimit>;
