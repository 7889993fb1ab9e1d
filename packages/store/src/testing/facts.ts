/* oxlint-disable no-restricted-imports -- only tests import this file */
/**
 * The real changes, recorded by the test's own triggers in the transaction of the change. Beside them are the events, each
 * with the transaction that wrote it. So neither a change without an event nor an event without a change can hide.
 */
import { execute } from '@lodge/testkit/postgres';

const agentColumns = `name, description, model, size, labels, metadata, instructions, dashboard, browser, spend_limit, members, keep_awake,
  idle_timeout_seconds, stop_after_seconds, auto_resume, auto_start, wake_on_message, desired, status, operation_kind, deleted_at`;
const of = (row: 'old' | 'new'): string =>
  agentColumns
    .split(',')
    .map((name) => `${row}.${name.trim()}`)
    .join(', ');

/** Facts one by one, while a transaction has one event for all its changes. */
const facts = `
  create table facts (xid text not null, unit text not null);
  create function note_fact() returns trigger language plpgsql as $$
  begin
    insert into facts values (pg_current_xact_id()::text, tg_argv[0]);
    return null;
  end $$;
  create trigger t after insert on agents for each row execute function note_fact('change');
  create trigger t2 after update on agents for each row when ((${of('old')}) is distinct from (${of('new')}))
    execute function note_fact('change');
  create trigger t after insert on api_keys for each row execute function note_fact('change');
  create trigger t2 after update on api_keys for each row when (old.revoked_at is distinct from new.revoked_at)
    execute function note_fact('change');
  create trigger t after insert on accounts for each row execute function note_fact('account');
  create trigger t2 after update on accounts for each row when (
    (old.name, old.email, old.password_hash, old.role, old.totp_sealed, old.totp_pending_sealed, old.spend_limit, old.record_llm_calls)
    is distinct from (new.name, new.email, new.password_hash, new.role, new.totp_sealed, new.totp_pending_sealed, new.spend_limit, new.record_llm_calls)
  ) execute function note_fact('change');
  create trigger t after insert or update or delete on agent_ports for each row execute function note_fact('change');
  create trigger t after insert or delete on llm_keys for each row execute function note_fact('change');
  create trigger t after insert on agent_visits for each row execute function note_fact('change');
  create trigger t after insert or delete on sessions for each row execute function note_fact('change');
  create trigger t after insert or delete on account_links for each row execute function note_fact('change');
  create trigger t after insert on oauth_codes for each row execute function note_fact('change');
  create trigger t after update on oauth_devices for each row when (old.account_id is distinct from new.account_id)
    execute function note_fact('change');
  create trigger t after update on spend_windows for each row when (old.warned_for is distinct from new.warned_for)
    execute function note_fact('warned');
  create trigger t2 after update on spend_windows for each row when (old.reached_for is distinct from new.reached_for)
    execute function note_fact('reached');
`;

export const watchFacts = (connectionString: string): Promise<unknown> => execute(connectionString, facts);

export interface Mismatch {
  readonly xid: string;
  readonly facts: readonly string[] | null;
  readonly events: readonly string[] | null;
}

/** Events that change no record. */
const alone = ['agent.disk_full'];

/** Returns the transactions whose events do not match their changes. */
export function mismatches(connectionString: string): Promise<readonly Mismatch[]> {
  return execute<Mismatch & Record<string, unknown>>(
    connectionString,
    `
      with changed as (
        select xid, array_agg(distinct unit) as facts,
          count(*) filter (where unit in ('warned', 'reached')) + count(distinct unit) filter (where unit in ('change', 'account')) as n
        from facts group by xid
      ), told as (
        select xmin::text as xid, array_agg(type) as events, count(*) as n
        from events where type <> all('{${alone.join()}}') group by 1
      )
      select xid, facts, events from changed full join told using (xid) where changed.n is distinct from told.n
    `,
  );
}

export async function counted(connectionString: string): Promise<{ readonly facts: number; readonly events: number }> {
  const [row] = await execute<{ facts: number; events: number }>(
    connectionString,
    'select (select count(*)::int from facts) as facts, (select count(*)::int from events) as events',
  );
  return row!;
}
