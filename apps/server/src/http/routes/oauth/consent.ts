import {
  AuthorizationAnswer,
  AuthorizationQuestion,
  AuthorizationRequest,
  DecideAuthorization,
  Grant,
  GrantList,
} from '@lodge/contract';
import { Refusal } from '@lodge/domain';
import type { Scope } from '@lodge/domain';
import type { AuthorizationInput, GrantRow, OAuth } from '@lodge/engine';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { actorNote } from '../../identity/change-note.ts';
import { toWire } from '../../reply/to-wire.ts';
import { callerOf, signedIn, tags } from '../account/replies.ts';

interface Needs {
  readonly accounts: { readonly oauth: OAuth };
}

/**
 * For the person: `POST /v1/account/authorization` and `/decision`, `GET /v1/account/grants`, `DELETE` of one. The browser
 * comes to the page `/account/authorize`, which asks here: it takes the session and its token, so no other site can agree.
 */
export function consentRoutes(app: App, { accounts: { oauth } }: Needs): void {
  authorizationRoutes(app, oauth);
  grantRoutes(app, oauth);
}

function authorizationRoutes(app: App, oauth: OAuth): void {
  const errors = ['invalid_client', 'invalid_redirect_uri', 'invalid_scope', 'invalid_target'] as const;
  app.route({
    method: 'POST',
    url: '/v1/account/authorization',
    schema: {
      operationId: 'readAuthorization',
      tags,
      summary: 'Read which program asks for access',
      body: AuthorizationQuestion,
      response: { 200: { ...AuthorizationRequest, 'x-response-description': 'Who asks for what.' } },
    },
    config: { ...signedIn, errors },
    handler: async (request) => {
      const question = await oauth.authorizationQuestion(request.me!, inputOf(request.body));
      return toWire(AuthorizationRequest, { ...question, scopes: question.grantable });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/authorization/decision',
    schema: {
      operationId: 'decideAuthorization',
      tags,
      summary: 'Give a program access, or refuse it',
      body: DecideAuthorization,
      response: { 200: { ...AuthorizationAnswer, 'x-response-description': 'Where the browser goes.' } },
    },
    config: { ...signedIn, errors },
    handler: async (request) => {
      const { approve, scopes } = request.body;
      const given = decided(approve, scopes);
      return {
        redirect_to: await oauth.decideAuthorization(request.me!, inputOf(request.body), given, callerOf(request)),
      };
    },
  });
}

/** The scopes of a decision; null: it is refused. */
export function decided(approve: boolean, scopes: readonly Scope[] | null = null): readonly Scope[] | null {
  if (approve === (scopes !== null)) return scopes;
  throw new Refusal('invalid_request', `scopes ${approve ? 'is required' : 'must be absent'} with approve ${approve}.`);
}

function inputOf(body: AuthorizationQuestion): AuthorizationInput {
  const { scope = null, state = null, resource = null } = body;
  return {
    clientId: body.client_id,
    redirectUri: body.redirect_uri,
    responseType: body.response_type,
    codeChallenge: body.code_challenge,
    codeChallengeMethod: body.code_challenge_method,
    scope,
    state,
    resource,
  };
}

function grantRoutes(app: App, oauth: OAuth): void {
  app.route({
    method: 'GET',
    url: '/v1/account/grants',
    schema: {
      operationId: 'listGrants',
      tags,
      summary: 'List the programs that have access',
      response: { 200: { ...GrantList, 'x-response-description': 'Those in force, newest first.' } },
    },
    config: signedIn,
    handler: async ({ principal }) => ({ data: (await oauth.grants(principal.accountId)).map(grantRecord) }),
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/grants/:id',
    schema: {
      operationId: 'revokeGrant',
      tags,
      summary: 'Revoke the access of a program',
      params: Type.Object({ id: Type.String() }),
      response: { 200: { ...Grant, 'x-response-description': 'The access, which has ended.' } },
    },
    config: { ...signedIn, errors: ['grant_not_found'] },
    handler: async (request) =>
      grantRecord(await oauth.revokeGrant(request.principal.accountId, request.params.id, actorNote(request).by)),
  });
}

const grantRecord = (row: GrantRow): Grant => toWire(Grant, { ...row, id: row.keyId });
