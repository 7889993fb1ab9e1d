import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ScrollText, X } from 'lucide-react';
import { Code } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/form/field.tsx';
import { Page, Section } from '../../components/page.tsx';
import { Paged } from '../../components/shown/paged.tsx';
import { EmptyState } from '../../components/states.tsx';
import { queries } from '../../queries.ts';
import { useAccount, useMay } from '../../session.ts';
import { AuditTable } from './audit-table.tsx';
import { auditQuery } from './queries.ts';
import { actors, families } from './search.ts';
import type { AuditSearch } from './search.ts';

const route = getRouteApi('/app/account/audit');

export function AuditPage() {
  const search = route.useSearch();
  const events = useInfiniteQuery(auditQuery(search));
  const nameOf = useActorNames();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title="Audit log"
      description="Who changed what in your account, and from where. It names no secret."
      width="wide"
    >
      <Section
        title="Changes"
        description="Newest first. Old ones are removed after some time."
        actions={<Filters search={search} />}
      >
        {search.target !== undefined && <TargetFilter search={search} target={search.target} />}
        <Paged query={events}>
          {(rows) => {
            if (rows.length > 0) return <AuditTable rows={rows} nameOf={nameOf} search={search} />;
            return (
              <EmptyState Icon={ScrollText} title={isFiltered ? 'No such changes' : 'Nothing was changed yet'}>
                {isFiltered
                  ? 'Choose other filters to see more.'
                  : 'Each change of an agent, a key or a setting is listed here.'}
              </EmptyState>
            );
          }}
        </Paged>
      </Section>
    </Page>
  );
}

/** Names actors as their owner knows them; an id that nothing is known of stays one. */
function useActorNames(): (type: string, id: string | null) => string | null {
  const me = useAccount();
  const keys = useQuery({ ...queries.keys, enabled: useMay('keys:write') });
  return (type, id) => {
    if (id === null) return null;
    if (type === 'account') return id === me.id ? me.name : null;
    return keys.data?.find((key) => key.id === id)?.name ?? null;
  };
}

function Filters({ search }: { search: AuditSearch }) {
  const navigate = useNavigate();
  const choose = (name: keyof AuditSearch, value: string): void => {
    const { [name]: _before, ...rest } = search;
    void navigate({
      to: '.',
      search: value === '' ? rest : { ...rest, [name]: value },
      replace: true,
      resetScroll: false,
    });
  };
  return (
    <div className="flex gap-3 max-sm:w-full sm:gap-4">
      <div className="min-w-0 max-sm:flex-1 sm:w-48">
        <Filter
          label="What"
          all="Everything"
          values={families}
          value={search.what}
          onChoose={(to) => choose('what', to)}
        />
      </div>
      <div className="min-w-0 max-sm:flex-1 sm:w-44">
        <Filter label="Who" all="Anybody" values={actors} value={search.who} onChoose={(to) => choose('who', to)} />
      </div>
    </div>
  );
}

interface FilterProps {
  readonly label: string;
  readonly all: string;
  readonly values: Readonly<Record<string, string>>;
  readonly value: string | undefined;
  readonly onChoose: (value: string) => void;
}

function Filter({ label, all, values, value, onChoose }: FilterProps) {
  return (
    <SelectField label={label} value={value ?? ''} onChange={(event) => onChoose(event.currentTarget.value)}>
      <option value="">{all}</option>
      {Object.entries(values).map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}

function TargetFilter({ search, target }: { search: AuditSearch; target: string }) {
  const navigate = useNavigate();
  const { target: _gone, ...rest } = search;
  return (
    <div className="flex items-center gap-3 border-b border-line px-5 py-3 sm:px-6">
      <span>
        Only what was done to <Code>{target}</Code>
      </span>
      <Button small variant="ghost" onClick={() => void navigate({ to: '.', search: rest, replace: true })}>
        <X aria-hidden className="size-4" />
        Show all
      </Button>
    </div>
  );
}
