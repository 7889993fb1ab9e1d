import type { ClaimOptions, ClaimedRun } from '@lodge/ports';
import { sql } from 'kysely';
import type { Transaction } from 'kysely';
import { toDelivery } from '../channels/deliver.ts';
import type { DeliverColumns } from '../channels/tables.ts';
import type { Schema } from '../database/schema.ts';
import { claimWork } from '../work/claim.ts';

interface Facts extends Pick<ClaimedRun, 'isManual'> {
  readonly scheduledFor: string;
  readonly schedule: Omit<ClaimedRun['schedule'], 'deliver'> & DeliverColumns;
}

const facts = sql<Facts>`
  (
    select json_build_object(
      'scheduledFor', r.scheduled_for, 'isManual', r.manual,
      'schedule', json_build_object('id', s.id, 'accountId', s.account_id, 'agentId', s.agent_id, 'name', s.name,
        'timeZone', s.time_zone, 'prompt', s.prompt, 'conversation', s.conversation, 'wake', s.wake,
        'deliver_to', s.deliver_to, 'deliver_channel', s.deliver_channel, 'deliver_conversation', s.deliver_conversation)
    )
    from schedule_runs r join schedules s on s.id = r.schedule_id where r.id = taken.id
  )
`;

export async function claimRuns(trx: Transaction<Schema>, options: ClaimOptions): Promise<readonly ClaimedRun[]> {
  const claimed = await claimWork(trx, 'run', options, facts);
  return claimed.map(({ id, claim, attempts, may_have_acted: mayHaveActed, facts: run }) => {
    const { deliver_to, deliver_channel, deliver_conversation, ...schedule } = run.schedule;
    return {
      id,
      claim,
      attempts,
      mayHaveActed,
      scheduledFor: new Date(run.scheduledFor),
      isManual: run.isManual,
      schedule: { ...schedule, deliver: toDelivery({ deliver_to, deliver_channel, deliver_conversation }) },
    };
  });
}
