import { CreateInvitation, CreatedInvitation, Invitation, InvitationList, Nothing } from '@lodge/contract';
import { linkPath } from '@lodge/domain';
import type { Accounts, LinkRow } from '@lodge/engine';
import { Type } from 'typebox';
import type { App } from '../../app-types.ts';
import { toWire } from '../../reply/to-wire.ts';
import { callerOf, signedIn, tags } from './replies.ts';

interface Needs {
  readonly accounts: Pick<Accounts, 'invitations' | 'invite' | 'endInvitation'>;
  /** Where browsers reach this service. */
  readonly origin: () => string;
}

/** `GET` and `POST /v1/account/invitations`, `DELETE` of one by its id. */
export function invitationRoutes(app: App, { accounts, origin }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/account/invitations',
    schema: {
      operationId: 'listInvitations',
      tags,
      summary: 'List invitations',
      description: 'For an owner.',
      response: { 200: { ...InvitationList, 'x-response-description': 'Those accepted or open, newest first.' } },
    },
    config: { ...signedIn, errors: ['owner_only'] },
    handler: async ({ me }) => ({ data: (await accounts.invitations(me!)).map(invitation) }),
  });

  app.route({
    method: 'POST',
    url: '/v1/account/invitations',
    schema: {
      operationId: 'createInvitation',
      tags,
      summary: 'Invite somebody',
      description: 'For an owner. Makes a link that works once, for 7 days.',
      body: CreateInvitation,
      response: {
        201: { ...CreatedInvitation, 'x-response-description': 'The invitation; its link is shown this once.' },
      },
    },
    config: { ...signedIn, errors: ['owner_only'] },
    handler: async (request, reply) => {
      const { email = null, role = 'member' } = request.body;
      const { link, token } = await accounts.invite(request.me!, { email, role }, callerOf(request));
      return reply.code(201).send({ ...invitation(link), url: origin() + linkPath('invite', token) });
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/invitations/:id',
    schema: {
      operationId: 'endInvitation',
      tags,
      summary: 'Take an invitation back',
      description: 'For an owner.',
      params: Type.Object({ id: Type.String() }),
      response: { 200: { ...Nothing, 'x-response-description': 'Its link works no more.' } },
    },
    config: { ...signedIn, errors: ['owner_only', 'invitation_not_found'] },
    handler: async (request) => {
      await accounts.endInvitation(request.me!, request.params.id, callerOf(request));
      return {};
    },
  });
}

const invitation = (row: LinkRow): Invitation => toWire(Invitation, { ...row, acceptedAt: row.usedAt });
