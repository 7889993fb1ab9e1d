import type { Host } from '@lodge/sdk';
import { Code } from '../../components/badge.tsx';
import { Section } from '../../components/page.tsx';

/** Notes that need nothing done, and the names of checks that are not made here. */
export function ChecksSection({ host: { findings, unseen } }: { host: Host }) {
  const notes = (findings ?? []).filter(({ state }) => state === 'note');
  return (
    <Section title="Checks" description="Of the machine and its settings. Weak points are at the top of this page.">
      <div className="flex flex-col gap-3 px-5 py-4 sm:px-6">
        {findings === null && <p className="text-muted">The checks are not done yet. They take some seconds.</p>}
        {findings !== null && notes.length === 0 && <p className="text-muted">There is nothing else to know.</p>}
        {notes.length > 0 && (
          <ul className="grid gap-x-8 gap-y-3 md:grid-cols-2">
            {notes.map(({ name, detail, advice }) => (
              <li key={name} className="flex flex-col gap-0.5">
                <span className="font-medium first-letter:uppercase">{name}</span>
                <span className="wrap-anywhere text-muted first-letter:uppercase">
                  {detail}
                  {advice !== null && ` → ${advice}`}
                </span>
              </li>
            ))}
          </ul>
        )}
        {unseen.length > 0 && (
          <p className="text-[0.8125rem] wrap-anywhere text-muted">
            The service has no privileges, so it cannot look at: {unseen.join(', ')}. <Code>npm run doctor</Code> as
            root does.
          </p>
        )}
      </div>
    </Section>
  );
}
