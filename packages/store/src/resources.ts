/** The rooms of the store. Each says in its own folder which of its columns are sealed, and of which changes it tells. */
import { accountTables } from './accounts/resource.ts';
import { agentTables } from './agents/resource.ts';
import { channelTables } from './channels/resource.ts';
import { confirmationTables } from './confirmations/resource.ts';
import { connectionTables } from './connections/resource.ts';
import { eventTables } from './events/resource.ts';
import { hookTables } from './hooks/resource.ts';
import { httpTables } from './http/resource.ts';
import { llmTables } from './llm/resource.ts';
import { logTables } from './logs/resource.ts';
import { scheduleTables } from './schedules/resource.ts';
import { skillTables } from './skills/resource.ts';
import { snapshotTables } from './snapshots/resource.ts';
import { webhookTables } from './webhooks/resource.ts';
import { workTables } from './work/resource.ts';

export const storedResources = [
  accountTables,
  agentTables,
  channelTables,
  confirmationTables,
  connectionTables,
  eventTables,
  hookTables,
  httpTables,
  llmTables,
  logTables,
  scheduleTables,
  skillTables,
  snapshotTables,
  webhookTables,
  workTables,
] as const;
