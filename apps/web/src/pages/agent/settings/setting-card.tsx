import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../../components/button.tsx';
import { Badge } from '../../../components/badge.tsx';
import { FormCard } from '../../../components/shown/cards.tsx';
import { Failure, Notice } from '../../../components/notice.tsx';
import { useMay } from '../../../session.ts';
import type { Setting, Values } from './use-setting.ts';

/** When a saved change is in effect. */
const effects = {
  live: 'In effect at once.',
  soon: 'In effect within seconds while it runs, else at its next start.',
  packages: 'Installed within minutes while it runs, else at its next start.',
  size: 'In effect at once where the running machine can take it, else at its next start.',
} as const;

interface SettingCardProps<V extends Values> {
  readonly title: string;
  readonly description?: ReactNode;
  readonly setting: Setting<V>;
  readonly effect: keyof typeof effects;
  /** Set where a saved change is not in effect yet. */
  readonly pending?: string | false;
  /** The values' names in words, to show what somebody else made of them. */
  readonly labels: Readonly<Partial<Record<keyof V, string>>>;
  readonly children: ReactNode;
}

/** A group of settings with its own Save. */
export function SettingCard<V extends Values>(props: SettingCardProps<V>) {
  const { title, description, setting, effect, pending = false, labels, children } = props;
  const mayWrite = useMay('agents:write');
  const form = useRef<HTMLFormElement>(null);
  // The first wrong field has the focus, once for each try to save.
  useEffect(() => {
    if (setting.refusals > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [setting.refusals]);
  return (
    <form
      ref={form}
      noValidate
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        setting.save();
      }}
    >
      <FormCard title={title} description={description}>
        <fieldset disabled={!mayWrite} className="flex min-w-0 flex-col gap-4">
          {children}
        </fieldset>
        {setting.theirs !== null && <Theirs theirs={setting.theirs} setting={setting} labels={labels} />}
        <Failure error={setting.failure} />
        {mayWrite && (
          <footer className="flex min-h-9 flex-wrap items-center justify-between gap-3">
            <p className="flex flex-wrap items-center gap-2 text-[0.8125rem] text-muted">
              {effects[effect]}
              {pending !== false && <Badge tone="warning">{pending}</Badge>}
            </p>
            {setting.isChanged && (
              <div className="flex gap-2">
                <Button onClick={setting.discard}>Discard</Button>
                <Button
                  type="submit"
                  variant="primary"
                  pending={setting.isPending}
                  disabled={setting.theirs !== null}
                  className="disabled:opacity-60"
                >
                  Save
                </Button>
              </div>
            )}
          </footer>
        )}
      </FormCard>
    </form>
  );
}

interface TheirsProps<V extends Values> extends Pick<SettingCardProps<V>, 'setting' | 'labels'> {
  readonly theirs: V;
}

function Theirs<V extends Values>({ theirs, setting, labels }: TheirsProps<V>) {
  const other = (Object.keys(labels) as (keyof V)[]).filter(
    (name) => JSON.stringify(theirs[name]) !== JSON.stringify(setting.values[name]),
  );
  return (
    <Notice kind="warning" alert>
      <p className="font-medium">Somebody changed this while you were editing. Yours is not saved yet.</p>
      <dl className="mt-2 flex flex-col gap-2">
        {other.map((name) => (
          <div key={String(name)}>
            <dt className="text-[0.8125rem] text-muted">{labels[name]} is now</dt>
            <dd className="max-h-40 overflow-y-auto wrap-anywhere whitespace-pre-wrap">{inWords(theirs[name])}</dd>
          </div>
        ))}
      </dl>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button small onClick={setting.keepMine}>
          Keep mine
        </Button>
        <Button small onClick={setting.discard}>
          Take theirs
        </Button>
      </div>
    </Notice>
  );
}

function inWords(value: unknown): string {
  if (value === true) return 'On';
  if (value === false) return 'Off';
  if (Array.isArray(value)) {
    const lines = value.map((item) => (Array.isArray(item) ? item.join(' = ') : String(item)));
    return lines.length === 0 ? 'None' : lines.join('\n');
  }
  return typeof value === 'string' && value !== '' ? value : 'Empty';
}
