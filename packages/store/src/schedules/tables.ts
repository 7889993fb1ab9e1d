import type { RunStatus } from '@lodge/domain';
import type { Generated } from 'kysely';
import type { DeliverColumns } from '../channels/tables.ts';

/** Tables of schedules. */
export interface ScheduleTables {
  schedules: SchedulesTable;
  schedule_runs: ScheduleRunsTable;
}

export interface SchedulesTable extends DeliverColumns {
  id: string;
  /** int8, which comes as text. */
  seq: Generated<string>;
  agent_id: string;
  account_id: string;
  name: string;
  enabled: boolean;
  cron: string | null;
  every: string | null;
  at: Date | null;
  time_zone: string;
  anchor: Date;
  prompt: string;
  conversation: string | null;
  wake: boolean;
  next_run_at: Date | null;
  planned_at: Generated<Date>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface ScheduleRunsTable {
  id: Generated<string>;
  seq: Generated<string>;
  schedule_id: string;
  agent_id: string;
  account_id: string;
  scheduled_for: Date;
  manual: Generated<boolean>;
  started_at: Date | null;
  ended_at: Date | null;
  status: RunStatus | null;
  attempts: Generated<number>;
  /** Decimal as text. */
  cost_usd: string | null;
  answer_preview: string | null;
  error: string | null;
}
