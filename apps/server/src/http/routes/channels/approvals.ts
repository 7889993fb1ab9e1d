import { Approval, ApprovalList, ApprovalsQuery, ChannelParams, DecideApproval } from '@lodge/contract';
import type { ChannelSender } from '@lodge/store/channels';
import { actorNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import { toWire } from '../../reply/to-wire.ts';
import { changeConfig, placeOf, readConfig, tags } from './shared.ts';
import type { ChannelNeeds } from './shared.ts';

/** `GET` and `POST /v1/agents/:id/channels/:channel/approvals`: the people who may talk to the agent. */
export function approvalRoutes(app: App, needs: ChannelNeeds): void {
  listRoute(app, needs);
  decideRoute(app, needs);
}

function listRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/channels/:channel/approvals',
    schema: {
      operationId: 'listApprovals',
      tags,
      summary: 'List who asked to talk to an agent',
      params: ChannelParams,
      querystring: ApprovalsQuery,
      response: { 200: { ...ApprovalList, 'x-response-description': 'Senders, newest first.' } },
    },
    config: readConfig,
    handler: async (request) => {
      const senders = await channels.senders(await placeOf(needs, request), request.query.state);
      return {
        object: 'list' as const,
        data: senders.map(approvalRecord),
        has_more: false as const,
        next_cursor: null,
      };
    },
  });
}

function decideRoute(app: App, needs: ChannelNeeds): void {
  const { channels } = needs;
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/channels/:channel/approvals',
    schema: {
      operationId: 'decideApproval',
      tags,
      summary: 'Approve or deny who asked to talk to an agent',
      params: ChannelParams,
      body: DecideApproval,
      response: { 200: { ...Approval, 'x-response-description': 'The sender, decided.' } },
    },
    config: { ...changeConfig, errors: [...changeConfig.errors, 'approval_not_found'] },
    handler: async (request) => {
      const place = await placeOf(needs, request);
      const { code, action } = request.body;
      const approve = action === 'approve';
      // An earlier attempt has decided, and was killed before it could answer.
      if (request.idempotent?.effective) return approvalRecord(await channels.decided(place, code));
      return approvalRecord(await channels.decide(place, { code, approve }, actorNote(request)));
    },
  });
}

const approvalRecord = ({ senderId: id, name, ...row }: ChannelSender): Approval =>
  toWire(Approval, { ...row, sender: { id, name } });
