import {
  Confirmation,
  ConfirmationList,
  ConfirmationParams,
  DecideConfirmation,
  ListConfirmationsQuery,
} from '@lodge/contract';
import type { Confirmations, ShownConfirmation } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { toWire } from '../../reply/to-wire.ts';

interface ConfirmationNeeds {
  readonly confirmations: Confirmations;
}

interface Needs extends ConfirmationNeeds {
  readonly cursors: Cursors;
}

const tags = ['Confirmations'];

/** `/v1/confirmations` and what is below it. */
export function confirmationRoutes(app: App, needs: Needs): void {
  listRoute(app, needs);
  getRoute(app, needs);
  decideRoute(app, needs);
}

function listRoute(app: App, { confirmations, cursors }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/confirmations',
    schema: {
      operationId: 'listConfirmations',
      tags,
      summary: 'List confirmations',
      description: 'Newest first. Closed ones are kept for 30 days, and the last 1,000 of an agent.',
      querystring: ListConfirmationsQuery,
      response: { 200: { ...ConfirmationList, 'x-response-description': 'A page of confirmations.' } },
    },
    config: { scopes: ['agents:read'], errors: [] },
    handler: async ({ principal: { accountId }, query: { limit = 20, cursor, status, agent_id: agentId } }) => {
      const before = cursor === undefined ? undefined : cursors.open('confirmations', accountId, cursor);
      const filter = {
        limit: limit + 1,
        ...(status !== undefined && { status }),
        ...(agentId !== undefined && { agentId }),
        ...(before !== undefined && { before }),
      };
      return pageReply(await confirmations.list(accountId, filter), {
        limit,
        record,
        cursorOf: (last) => cursors.seal('confirmations', accountId, last.seq),
      });
    },
  });
}

function getRoute(app: App, { confirmations }: ConfirmationNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/confirmations/:confirmation',
    schema: {
      operationId: 'getConfirmation',
      tags,
      summary: 'Read a confirmation',
      params: ConfirmationParams,
      response: { 200: { ...Confirmation, 'x-response-description': 'The confirmation.' } },
    },
    config: { scopes: ['agents:read'], errors: ['confirmation_not_found'] },
    handler: async ({ principal, params }) => record(await confirmations.get(principal.accountId, params.confirmation)),
  });
}

function decideRoute(app: App, { confirmations }: ConfirmationNeeds): void {
  app.route({
    method: 'POST',
    url: '/v1/confirmations/:confirmation',
    schema: {
      operationId: 'decideConfirmation',
      tags,
      summary: 'Decide about a confirmation',
      description:
        'Allows or denies a call, or answers a question, once. A call that waits in its turn is made by the agent’s own request; a later one is made by Lodge, once, and a turn of the same conversation tells the agent.',
      params: ConfirmationParams,
      body: DecideConfirmation,
      response: { 200: { ...Confirmation, 'x-response-description': 'The confirmation as it was decided.' } },
    },
    config: { scopes: ['agents:write'], errors: ['confirmation_not_found', 'confirmation_closed'] },
    handler: async (request) => {
      const { principal, params, body } = request;
      const { decision, reason = null, answer = null, remember = 'none' } = body;
      const input = { decision, reason, answer, remember };
      const row = request.idempotent?.effective
        ? await confirmations.get(principal.accountId, params.confirmation)
        : await confirmations.decide(principal.accountId, params.confirmation, input, actorNote(request));
      request.scope.fields.agent_id = row.agentId;
      return record(row);
    },
  });
}

function record({ shown, words, subject, kind, decision, ...row }: ShownConfirmation): Confirmation {
  const isAnswer = kind === 'question' && decision === 'allow';
  return toWire(Confirmation, {
    ...row,
    kind,
    decision,
    on: subject,
    action: shown.action,
    quoted: shown.quoted,
    cut: shown.isCut,
    options: [...shown.options],
    reason: isAnswer ? null : words,
    answer: isAnswer ? words : null,
  });
}
