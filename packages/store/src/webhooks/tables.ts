import type { DeliveryState } from '@lodge/ports';
import type { Generated } from 'kysely';

/** Tables of webhooks. */
export interface WebhookTables {
  webhooks: WebhooksTable;
  webhook_deliveries: DeliveriesTable;
}

export interface WebhooksTable {
  id: string;
  account_id: string;
  url: string;
  description: string;
  patterns: string[];
  enabled: boolean;
  disabled_reason: string | null;
  sealed_secret: string;
  secret_last4: string;
  sealed_previous: string | null;
  previous_until: Date | null;
  /** int8, which comes as text. */
  position: string;
  failing_since: Date | null;
  lease_holder: string | null;
  lease_number: Generated<number>;
  lease_until: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface DeliveriesTable {
  /** int8, which comes as text. */
  id: Generated<string>;
  webhook_id: string;
  event_id: string | null;
  type: string;
  agent_id: string | null;
  body: string;
  state: DeliveryState;
  attempts: Generated<number>;
  next_at: Date | null;
  first_attempt_at: Date | null;
  last_attempt_at: Date | null;
  status: number | null;
  reason: string | null;
  duration_ms: number | null;
  created_at: Generated<Date>;
  ended_at: Date | null;
}
