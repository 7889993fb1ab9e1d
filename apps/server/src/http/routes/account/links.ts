import { AccountLink, JoinByLink, LinkQuestion, Register, SessionBody } from '@lodge/contract';
import type { App } from '../../app-types.ts';
import { anyone, begun, callerOf, tags } from './replies.ts';
import type { Signing } from './replies.ts';

const response = { 200: { ...SessionBody, 'x-response-description': 'The session that has begun.' } };

/** The ways to get an account: `POST /v1/account/links`, `/setup`, `/invitations/accept` and `/register`. */
export function linkRoutes(app: App, signing: Signing): void {
  const { accounts } = signing;

  app.route({
    // It is no GET: a path gets into the logs of proxies before the server, and the token opens an account.
    method: 'POST',
    url: '/v1/account/links',
    schema: {
      operationId: 'readAccountLink',
      tags,
      summary: 'Read what a link is for',
      body: LinkQuestion,
      response: { 200: { ...AccountLink, 'x-response-description': 'What it is for.' } },
    },
    config: { ...anyone, errors: ['link_not_valid'] },
    handler: async (request) => {
      const { kind, email, expiresAt } = await accounts.link(request.body.token);
      return { kind, email, expires_at: expiresAt.toISOString() };
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/account/setup',
    schema: {
      operationId: 'setUpAccount',
      tags,
      summary: 'Make the first account yours',
      body: JoinByLink,
      response,
    },
    config: { ...anyone, errors: ['link_not_valid', 'email_taken'] },
    handler: async (request, reply) => begun(signing, reply, await accounts.setUp(request.body, callerOf(request))),
  });

  app.route({
    method: 'POST',
    url: '/v1/account/invitations/accept',
    schema: {
      operationId: 'acceptInvitation',
      tags,
      summary: 'Accept an invitation',
      body: JoinByLink,
      response,
    },
    config: { ...anyone, errors: ['link_not_valid', 'email_taken'] },
    handler: async (request, reply) =>
      begun(signing, reply, await accounts.acceptInvitation(request.body, callerOf(request))),
  });

  app.route({
    method: 'POST',
    url: '/v1/account/register',
    schema: {
      operationId: 'register',
      tags,
      summary: 'Make an account',
      description: 'Where the operator lets anyone: `registration_open` of the options says so.',
      body: Register,
      response,
    },
    config: { ...anyone, errors: ['registration_closed', 'email_taken'] },
    handler: async (request, reply) => begun(signing, reply, await accounts.register(request.body, callerOf(request))),
  });
}
