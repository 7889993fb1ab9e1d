import type { Generated } from 'kysely';

/** Tables of webhooks. */
export interface WebhookTables {
  webhooks: WebhooksTable;
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
