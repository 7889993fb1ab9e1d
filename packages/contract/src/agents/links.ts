import { Type } from 'typebox';
import type { Static } from 'typebox';
import { onlyWhere, where, withRules } from '../rules.ts';
import { nullable, oneOf, patterns, Timestamp } from '../text.ts';

const pages = ['gateway', 'dashboard', 'port', 'browser'] as const;

export const CreateLink = withRules(
  Type.Object(
    {
      page: Type.Optional(
        oneOf(pages, {
          default: 'gateway',
          description:
            "`gateway`: the agent's `url`; `dashboard`: its `dashboard_url`; `port`: a published port; `browser`: a view of the agent's browser.",
        }),
      ),
      port: Type.Optional(
        nullable(Type.Integer({ minimum: 1, maximum: 65_535, description: 'With `page: "port"`: which one.' })),
      ),
      path: Type.Optional(
        Type.String({
          maxLength: 2000,
          pattern: patterns.localPath,
          default: '/',
          description: 'Where the link leads.',
        }),
      ),
      expires_in_seconds: Type.Optional(
        Type.Integer({
          minimum: 60,
          maximum: 600,
          default: 300,
          description: 'How long the link can be opened; once.',
        }),
      ),
      visit_seconds: Type.Optional(
        Type.Integer({
          minimum: 60,
          maximum: 604_800,
          default: 28_800,
          description: 'How long the browser that opened it may look at the page.',
        }),
      ),
    },
    { title: 'CreateLink', additionalProperties: false, examples: [{}, { page: 'port', port: 3000, path: '/' }] },
  ),
  where('page', 'port', { required: ['port'], properties: { port: { type: 'integer' } } }),
  onlyWhere('page', 'port', { port: { type: 'null' } }),
);
export type CreateLink = Static<typeof CreateLink>;

export const Link = Type.Object(
  {
    object: Type.Literal('link'),
    url: Type.String({
      description: 'Opens the page in a browser, once. Whoever has it can: hand it to nobody else.',
      examples: ['http://openclaw-k7d2m9q4x1ab.agents.localhost:8080/_lodge/link?token=...'],
    }),
    expires_at: Timestamp,
  },
  { title: 'Link', additionalProperties: false },
);
