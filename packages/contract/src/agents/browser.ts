import { Type } from 'typebox';
import type { Static } from 'typebox';
import { agentBrowserStatuses, browserControl } from '@lodge/domain';
import { nullable, oneOf, Timestamp } from '../text.ts';

const BrowserTab = Type.Object(
  {
    id: Type.String({ examples: ['B8A1F3E2C4D5967788990011AABBCCDD'] }),
    title: Type.String({ description: "The page's own words.", examples: ['Sign in'] }),
    url: Type.String({ examples: ['https://example.com/login'] }),
  },
  { title: 'BrowserTab', additionalProperties: false },
);

export const Browser = Type.Object(
  {
    object: Type.Literal('browser'),
    enabled: Type.Boolean({ description: 'The field `browser` of the agent.' }),
    status: oneOf(agentBrowserStatuses, {
      description:
        '`off`: the agent has none. `unavailable`: its machine cannot start one, `message` says why. `idle`: it starts when somebody uses it. `asleep`: the agent does not run.',
    }),
    message: nullable(Type.String({ description: 'Why it is unavailable or has failed.' })),
    tabs: Type.Array(BrowserTab, { description: 'At most 50 of its tabs, while it runs.' }),
    controlled_by: nullable(
      oneOf(['agent', 'owner'], { description: 'The one whose mouse and keyboard count; null while it does not run.' }),
    ),
    control_ends_at: nullable({
      ...Timestamp,
      description: 'When the agent has the control again by itself; null while it has it.',
    }),
  },
  { title: 'Browser', additionalProperties: false },
);
export type Browser = Static<typeof Browser>;

export const TakeBrowserControl = Type.Object(
  {
    seconds: Type.Optional(
      Type.Integer({
        minimum: browserControl.least,
        maximum: browserControl.most,
        default: browserControl.usual,
        description: 'How long it is held, counted from now; then it ends by itself.',
      }),
    ),
  },
  { title: 'TakeBrowserControl', additionalProperties: false, examples: [{ seconds: 600 }] },
);
