import { Refusal, bucketBounds, defaultRangeMs, isTimeZone } from '@lodge/domain';
import { AgentParams, Usage, UsageQuery, maxUsageBuckets, maxUsageRecords } from '@lodge/contract';
import type { BucketRange } from '@lodge/domain';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';
import { timeOf } from '../../pipeline/query.ts';
import { bucketRecord, figuresRecord, toCsv } from '../../reply/usage-record.ts';
import type { UsageStore } from '@lodge/ports';

const description =
  'What was used, in buckets of time, and what it cost. Figures are exact up to this moment; a model call counts at the moment it began, and is there once it is over.';
const response = {
  200: {
    description: 'The usage.',
    content: { 'application/json': { schema: Usage }, 'text/csv': { schema: Type.String() } },
  },
};
const accountSchema = {
  operationId: 'getUsage',
  tags: ['Usage'],
  summary: 'Usage and cost of the account',
  description: `${description} Deleted agents are counted for as long as they were.`,
  querystring: UsageQuery,
  response,
};
const agentSchema = {
  operationId: 'getAgentUsage',
  tags: ['Usage'],
  summary: 'Usage and cost of an agent',
  description: `${description} Deleted agents have theirs too.`,
  params: AgentParams,
  querystring: UsageQuery,
  response,
};

interface Needs {
  readonly usage: Pick<UsageStore, 'report' | 'knows'>;
}

export function usageRoutes(app: App, { usage }: Needs): void {
  const answer = async (reply: FastifyReply, accountId: string, query: UsageQuery, agentId?: string) => {
    const range = rangeOf(query);
    const bounds = boundsOf(range);
    if (agentId !== undefined && !(await usage.knows(accountId, agentId))) {
      throw new Refusal('agent_not_found', 'No agent has this id.');
    }
    const { group_by: groupBy = null } = query;
    const whose = { accountId, ...(agentId !== undefined && { agentId }) };
    const report = await usage.report({ ...whose, bounds, groupBy, limit: maxUsageRecords });
    if (report === 'too_many') {
      throw tooMuch(
        `This has more than ${maxUsageRecords} records: ask for a shorter range, wider buckets or without group_by.`,
      );
    }
    const data = report.records.map((record) => bucketRecord(record, bounds));
    const totals = figuresRecord(report.totals);
    if (query.format === 'csv') return reply.type('text/csv; charset=utf-8').send(toCsv(data, totals));
    return {
      object: 'usage' as const,
      starting_at: bounds[0]!.toISOString(),
      ending_at: bounds.at(-1)!.toISOString(),
      bucket_width: range.width,
      group_by: groupBy,
      time_zone: range.timeZone,
      data,
      totals,
    };
  };
  app.route({
    method: 'GET',
    url: '/v1/usage',
    schema: accountSchema,
    config: { scopes: ['usage:read'] },
    handler: (request, reply) => answer(reply, request.principal.accountId, request.query),
  });
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/usage',
    schema: agentSchema,
    config: { scopes: ['usage:read'], errors: ['agent_not_found'] },
    handler: (request, reply) => {
      const { id } = request.params;
      checkAgentId(id);
      return answer(reply, request.principal.accountId, request.query, id);
    },
  });
}

const tooMuch = (message: string): Refusal => new Refusal('invalid_request', message);

/** Nothing was used before. */
const earliest = new Date('2000-01-01T00:00:00Z');

function rangeOf({ starting_at, ending_at, bucket_width: width = '1d', time_zone = 'UTC' }: UsageQuery): BucketRange {
  if (!isTimeZone(time_zone)) {
    throw new Refusal(
      'invalid_request',
      'time_zone must be a name of the IANA time zone database, such as Europe/Berlin.',
    );
  }
  const endingAt = ending_at === undefined ? new Date() : timeOf(ending_at);
  const startingAt =
    starting_at === undefined ? new Date(endingAt.getTime() - defaultRangeMs[width]) : timeOf(starting_at);
  if (startingAt < earliest) throw new Refusal('invalid_request', 'starting_at must not be before the year 2000.');
  if (startingAt >= endingAt) throw new Refusal('invalid_request', 'starting_at must be before ending_at.');
  return { startingAt, endingAt, width, timeZone: time_zone };
}

function boundsOf(range: BucketRange): Date[] {
  const bounds = bucketBounds(range, maxUsageBuckets);
  if (bounds !== null) return bounds;
  throw tooMuch(
    `From starting_at to ending_at there are more than ${maxUsageBuckets} buckets: ask for a shorter range or a wider bucket_width.`,
  );
}
