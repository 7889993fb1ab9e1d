/**
 * Sign-in for programs: device authorization (RFC 8628), OAuth 2.1, and what a person sees of both. Fields that the RFCs do not know are
 * ignored, as they ask.
 */
import {
  deviceBounds,
  grantBounds,
  maxClientNameChars,
  maxRedirectUriChars,
  maxUserCodeChars,
  oauthBounds,
  scopes,
} from '@lodge/domain';
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
const redirectExample = 'http://127.0.0.1:33418/callback';
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

export const grantTypes = [
  'urn:ietf:params:oauth:grant-type:device_code',
  'authorization_code',
  'refresh_token',
] as const;

export const TokenRequest = Type.Object(
  {
    grant_type: Type.String({
      maxLength: 100,
      description: `One of ${grantTypes.join(', ')}.`,
      examples: [grantTypes[0]],
    }),
    device_code: word('The code of `device_authorization`.'),
    client_id: word('Of the client that asked. Ignored for a device code.'),
    code: word('The code of the authorization.'),
    redirect_uri: word('The address that the code came to.'),
    code_verifier: word('The verifier of the challenge (RFC 7636).'),
    refresh_token: word('The newest one. One that was exchanged before ends the access.'),
    scope: word('Fewer scopes than were given, for a refreshed token.'),
    resource: word('What the token is for (RFC 8707).'),
  },
  {
    title: 'TokenRequest',
    examples: [
      { grant_type: grantTypes[0], device_code: '<DEVICE_CODE>' },
      {
        grant_type: grantTypes[1],
        code: '<CODE>',
        client_id: '<CLIENT_ID>',
        redirect_uri: redirectExample,
        code_verifier: '<CODE_VERIFIER>',
      },
      { grant_type: grantTypes[2], refresh_token: '<REFRESH_TOKEN>', client_id: '<CLIENT_ID>' },
    ],
  },
);
export type TokenRequest = Static<typeof TokenRequest>;

export const Token = Type.Object(
  {
    access_token: Type.String({ description: 'An API key: `Authorization: Bearer`, or `X-API-Key`.' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Optional(Type.Integer({ description: 'Seconds. A key of a device has none.', examples: [3_600] })),
    refresh_token: Type.Optional(Type.String({ description: 'For the next token. A device gets none.' })),
    scope: Type.String({ examples: ['agents:read agents:chat'] }),
    key_id: Type.String({ description: 'The id of the API key, which for a grant is the id of the grant.' }),
  },
  { title: 'Token', additionalProperties: false },
);
export type Token = Static<typeof Token>;

export const RegisterClient = Type.Object(
  {
    redirect_uris: Type.Array(Type.String({ maxLength: maxRedirectUriChars }), {
      minItems: 1,
      maxItems: grantBounds.maxRedirectUris,
      description:
        "https, http to the loopback with any port, or a scheme made from a domain's name. Answers go to exactly these.",
    }),
    client_name: Type.Optional(
      Type.String({
        maxLength: 1_000,
        pattern: patterns.text,
        description: 'What the person reads, up to 100 characters.',
      }),
    ),
  },
  { title: 'RegisterOAuthClient', examples: [{ client_name: 'Cursor', redirect_uris: [redirectExample] }] },
);

export const RegisteredClient = Type.Object(
  {
    client_id: Type.String(),
    client_id_issued_at: Type.Integer({ description: 'Seconds since 1970.' }),
    client_name: Type.String(),
    redirect_uris: Type.Array(Type.String()),
    grant_types: Type.Array(Type.String()),
    response_types: Type.Array(Type.String()),
    token_endpoint_auth_method: Type.Literal('none', { description: 'Clients have no secret.' }),
  },
  { title: 'OAuthClient', additionalProperties: false },
);

export const RevokeToken = Type.Object(
  {
    token: Type.String({ maxLength: 2_048, description: 'An access or a refresh token.' }),
    client_id: Type.String({ maxLength: 2_048 }),
  },
  { title: 'RevokeToken', examples: [{ token: '<REFRESH_TOKEN>', client_id: '<CLIENT_ID>' }] },
);

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

const parameters = {
  client_id: Type.String({ maxLength: maxRedirectUriChars }),
  redirect_uri: Type.String({ maxLength: maxRedirectUriChars }),
  response_type: Type.String({ maxLength: 100 }),
  code_challenge: Type.String({ maxLength: 256 }),
  code_challenge_method: Type.String({ maxLength: 100 }),
  scope: Type.Optional(nullable(Type.String({ maxLength: oauthBounds.scopeChars }))),
  state: Type.Optional(nullable(Type.String({ maxLength: grantBounds.maxStateChars, pattern: patterns.text }))),
  resource: Type.Optional(nullable(Type.String({ maxLength: maxRedirectUriChars }))),
};
const asked = {
  client_id: '<CLIENT_ID>',
  redirect_uri: redirectExample,
  response_type: 'code',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  scope: 'agents:read agents:chat',
  state: 'af0ifjsldkj',
};

/** The parameters of an authorization request, as the browser brought them. */
export const AuthorizationQuestion = Type.Object(parameters, closedLike('ReadAuthorization', asked));
export type AuthorizationQuestion = Static<typeof AuthorizationQuestion>;

export const AuthorizationRequest = Type.Object(
  {
    client_name: Type.String({ description: 'As the program calls itself: one line of visible characters.' }),
    client_host: nullable(
      Type.String({ description: "Host of the program's own document; null: the program registered itself." }),
    ),
    redirect_host: Type.String({ description: 'Host, or scheme of a program, that gets the answer.' }),
    scopes: Type.Array(oneOf(scopes), { description: 'Those that it asks for and that the person may give.' }),
  },
  { title: 'AuthorizationRequest', additionalProperties: false },
);
export type AuthorizationRequest = Static<typeof AuthorizationRequest>;

export const DecideAuthorization = Type.Object(
  {
    ...parameters,
    approve: Type.Boolean(),
    scopes: Type.Optional(nullable({ ...Chosen, description: 'Those that the program gets. Only with `approve`.' })),
  },
  closedLike('DecideAuthorization', { ...asked, approve: true, scopes: ['agents:read'] }, { ...asked, approve: false }),
);

export const AuthorizationAnswer = Type.Object(
  { redirect_to: Type.String({ description: 'Where the browser goes with the answer.' }) },
  { title: 'AuthorizationAnswer', additionalProperties: false },
);

export const Grant = Type.Object(
  {
    id: Type.String(),
    client_name: Type.String({ description: 'As the program calls itself.' }),
    redirect_host: Type.String({ description: 'Host, or scheme of a program, that got the answer.' }),
    scopes: Type.Array(oneOf(scopes)),
    created_at: Timestamp,
    last_used_at: nullable(Timestamp),
    expires_at: Type.String({ ...Timestamp, description: 'When it ends unless the program renews it.' }),
  },
  { title: 'Grant', additionalProperties: false },
);
export type Grant = Static<typeof Grant>;
export const GrantList = Type.Object({ data: Type.Array(Grant) }, { title: 'GrantList' });
