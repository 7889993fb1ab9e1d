import { Type } from 'typebox';
import { oauthBounds } from '@lodge/domain';
import { Timestamp, patterns } from '../text.ts';

export const StartConnectionOAuth = Type.Object(
  {
    redirect_url: Type.Optional(
      Type.String({
        maxLength: 2000,
        pattern: patterns.webUrl,
        description: 'Where the page that ends the consent leads on to.',
        examples: ['https://app.example.com/settings'],
      }),
    ),
    scope: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: oauthBounds.scopeChars,
        pattern: patterns.scope,
        description: "What this consent asks for, in the place of the connection's own.",
        examples: ['issues:read'],
      }),
    ),
  },
  { title: 'StartConnectionOAuth', additionalProperties: false, examples: [{ scope: 'issues:read' }] },
);

export const ConnectionOAuthSession = Type.Object(
  {
    object: Type.Literal('oauth_session'),
    id: Type.String(),
    connection: Type.String({ examples: ['github'] }),
    status: Type.Literal('pending'),
    authorization_url: Type.String({ description: 'Open it in the browser of who may consent.' }),
    state: Type.String(),
    expires_at: Timestamp,
  },
  { title: 'ConnectionOAuthSession', additionalProperties: false },
);
