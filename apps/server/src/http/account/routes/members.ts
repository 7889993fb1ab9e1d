import { CreateInvitation, CreatedInvitation, Invitation, InvitationList, MemberList, Nothing } from '@lodge/contract';
import { linkPath } from '@lodge/engine/ports';
import type { LinkRow } from '@lodge/engine/ports';
import { Type } from 'typebox';
import type { App } from '../../context.ts';
import type { AreaContext } from '../area.ts';
import { spendLimitRecord } from '../../spend-limit.ts';
import { callerOf, signedIn, timeOrNull } from '../replies.ts';

const hide = true;

export function memberRoutes(app: App, { accounts, origin }: AreaContext): void {
  app.route({
    method: 'GET',
    url: '/account/api/invitations',
    schema: { hide, response: { 200: InvitationList } },
    config: signedIn,
    handler: async ({ me }) => ({ data: (await accounts.invitations(me)).map(invitation) }),
  });

  app.route({
    method: 'POST',
    url: '/account/api/invitations',
    schema: { hide, body: CreateInvitation, response: { 201: CreatedInvitation } },
    config: signedIn,
    handler: async (request, reply) => {
      const input = { email: request.body.email ?? null };
      const { link, token } = await accounts.invite(request.me, input, callerOf(request));
      return reply.code(201).send({ ...invitation(link), url: origin() + linkPath('invite', token) });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/account/api/invitations/:id',
    schema: { hide, params: Type.Object({ id: Type.String() }), response: { 200: Nothing } },
    config: signedIn,
    handler: async (request) => {
      await accounts.endInvitation(request.me, request.params.id, callerOf(request));
      return {};
    },
  });

  app.route({
    method: 'GET',
    url: '/account/api/members',
    schema: { hide, response: { 200: MemberList } },
    config: signedIn,
    handler: async ({ me }) => ({
      data: (await accounts.members(me)).map(({ id, name, email, role, createdAt, agents, spendLimit }) => ({
        id,
        name,
        email,
        role,
        created_at: createdAt.toISOString(),
        agents,
        spend_limit: spendLimitRecord(spendLimit),
      })),
    }),
  });
}

function invitation({ id, email, createdAt, expiresAt, usedAt }: LinkRow): Invitation {
  return {
    id,
    email,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    accepted_at: timeOrNull(usedAt),
  };
}
