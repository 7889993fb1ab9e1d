/**
 * Sign-in for programs: device authorization (RFC 8628), and what a person sees of it. Fields that the RFCs do not know are
 * ignored, as they ask.
 */
import { deviceBounds, maxClientNameChars, maxUserCodeChars, oauthBounds, scopes } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable, oneOf, patterns, Timestamp } from '../text.ts';

const closedLike = (title: string, ...examples: readonly object[]) => ({
  title,
  additionalProperties: false,
  examples,
});
/** A code, a token or an address of OAuth's, which nobody needs to be longer. */
const word = (description: string) => Type.Optional(Type.String({ maxLength: 2_048, description }));
const askedScope = Type.String({
  maxLength: oauthBounds.scopeChars,
  description: `Scopes with one space between two: ${scopes.join(', ')}. Without it all but \`keys:write\`. The person may give less.`,
  examples: ['agents:read agents:chat'],
});

export const DeviceAuthorizationRequest = Type.Object(
  {
    client_name: Type.String({
      minLength: 1,
      maxLength: maxClientNameChars,
      pattern: patterns.text,
      description: "Whom the person gives a key, such as the machine's name. The key gets this name.",
      examples: ['lodge on build-7'],
    }),
    scope: Type.Optional(askedScope),
  },
  {
    title: 'DeviceAuthorizationRequest',
    examples: [{ client_name: 'lodge on build-7', scope: 'agents:read agents:chat' }],
  },
);

export const DeviceAuthorization = Type.Object(
  {
    device_code: Type.String({ description: 'For the token endpoint alone. Whoever has it gets the key.' }),
    user_code: Type.String({ description: 'What the person compares and types.', examples: ['BCDF-GHJK'] }),
    verification_uri: Type.String({ examples: ['https://lodge.example.com/account/device'] }),
    verification_uri_complete: Type.String({
      description: 'The same with the code in it.',
      examples: ['https://lodge.example.com/account/device?user_code=BCDF-GHJK'],
    }),
    expires_in: Type.Integer({ description: 'Seconds.', examples: [deviceBounds.lifetimeSeconds] }),
    interval: Type.Integer({
      description: 'Least seconds between two requests for the token.',
      examples: [deviceBounds.intervalSeconds],
    }),
  },
  { title: 'DeviceAuthorization', additionalProperties: false },
);

export const grantTypes = ['urn:ietf:params:oauth:grant-type:device_code'] as const;

export const TokenRequest = Type.Object(
  {
    grant_type: Type.String({
      maxLength: 100,
      description: `One of ${grantTypes.join(', ')}.`,
      examples: [grantTypes[0]],
    }),
    device_code: word('The code of `device_authorization`.'),
    client_id: word('Ignored for a device code.'),
  },
  { title: 'TokenRequest', examples: [{ grant_type: grantTypes[0], device_code: '<DEVICE_CODE>' }] },
);
export type TokenRequest = Static<typeof TokenRequest>;

export const Token = Type.Object(
  {
    access_token: Type.String({ description: 'An API key: `Authorization: Bearer`, or `X-API-Key`.' }),
    token_type: Type.Literal('Bearer'),
    scope: Type.String({ examples: ['agents:read agents:chat'] }),
    key_id: Type.String({ description: 'The id of the API key.' }),
  },
  { title: 'Token', additionalProperties: false },
);
export type Token = Static<typeof Token>;

/** An error of the token endpoint (RFC 6749, section 5.2). */
export const OAuthErrorBody = Type.Object(
  { error: Type.String({ examples: ['invalid_grant'] }), error_description: Type.String() },
  { title: 'OAuthError', additionalProperties: false },
);
export type OAuthErrorBody = Static<typeof OAuthErrorBody>;

const UserCode = Type.String({ minLength: 1, maxLength: maxUserCodeChars, examples: ['BCDF-GHJK'] });
const Chosen = Type.Array(oneOf(scopes), { maxItems: scopes.length });

export const DeviceQuestion = Type.Object(
  { user_code: UserCode },
  closedLike('ReadDeviceRequest', { user_code: 'BCDF-GHJK' }),
);

export const DeviceRequest = Type.Object(
  {
    client_name: Type.String({ description: 'As the machine calls itself: one line of visible characters.' }),
    address: Type.String({ description: 'Where the request came from.' }),
    scopes: Type.Array(oneOf(scopes), { description: 'Those that it asks for and that the person may give.' }),
    created_at: Timestamp,
    expires_at: Timestamp,
  },
  { title: 'DeviceRequest', additionalProperties: false },
);
export type DeviceRequest = Static<typeof DeviceRequest>;

export const DecideDevice = Type.Object(
  {
    user_code: UserCode,
    approve: Type.Boolean(),
    scopes: Type.Optional(
      nullable({
        ...Chosen,
        description: 'Those that the key gets, of those that were asked for. Only with `approve`.',
      }),
    ),
  },
  closedLike(
    'DecideDeviceRequest',
    { user_code: 'BCDF-GHJK', approve: true, scopes: ['agents:read'] },
    { user_code: 'MNPQ-RSTV', approve: false },
  ),
);
