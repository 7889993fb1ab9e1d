import type { Host } from '@lodge/sdk';
import { Code } from '../../components/badge.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';

export function BackupsSection({ backups }: { backups: Host['backups'] }) {
  return (
    <Section title="Backups" description="Everything but the master key, encrypted.">
      <div className="flex flex-col gap-2 px-5 py-4 sm:px-6">
        {backups === null ? (
          <p className="text-muted">The machine does not answer about them at the moment.</p>
        ) : (
          <Known backups={backups} />
        )}
      </div>
    </Section>
  );
}

function Known({ backups: { last, place, times, is_known: isKnown } }: { backups: NonNullable<Host['backups']> }) {
  return (
    <>
      <p className="text-base font-semibold">
        {last !== null ? (
          <>
            The last one was made <Time value={last.made_at} />
          </>
        ) : isKnown ? (
          'None yet'
        ) : (
          'Not known here'
        )}
      </p>
      {last !== null && (
        <p className="wrap-anywhere text-muted">
          <Code>{last.name}</Code> in {last.place}
        </p>
      )}
      {!isKnown && (
        <p className="text-muted">
          Only root may read the note of the last one: <Code>npm run doctor</Code> shows it.
        </p>
      )}
      <p className="wrap-anywhere text-muted">
        {place === null ? (
          <>
            None are made on their own: set <Code>LODGE_BACKUP_PLACE</Code>, or run{' '}
            <Code>npm run lodge -- backup FOLDER</Code>.
          </>
        ) : (
          `Each day at ${times.join(' and ')} UTC one is made in ${place}.`
        )}
      </p>
    </>
  );
}
