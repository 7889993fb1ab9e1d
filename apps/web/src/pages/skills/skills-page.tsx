import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Skill } from '@lodge/sdk';
import { BookOpen } from 'lucide-react';
import { useState } from 'react';
import { change, lodge } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import type { Column } from '../../components/data-table.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import { Page, Section } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toasts/toasts.tsx';
import { formatNumber } from '../../format.ts';
import { useMay } from '../../session.ts';
import { Findings } from './findings.tsx';
import { skillsQuery } from './queries.ts';
import { UploadButton, UploadFailure, useUpload } from './upload.tsx';

/** The skills library of the account. */
export function SkillsPage() {
  const skills = useQuery(skillsQuery);
  const mayChange = useMay('agents:write');
  const upload = useUpload();
  const [shown, show] = useState<Skill>();
  const [deleting, remove] = useState<Skill>();
  return (
    <Page
      title="Skills"
      description="Folders that each teach an agent one thing. Each upload of the same name is its next version."
      actions={mayChange ? <UploadButton upload={upload} /> : undefined}
    >
      <UploadFailure upload={upload} />
      <Section title="Your library">
        <Loaded query={skills}>
          {(data) =>
            data.length === 0 ? (
              <EmptyState Icon={BookOpen} title="No skills yet">
                Upload the folder of a skill as a zip or tar.gz. The command lodge skills add also takes repositories
                and hubs.
              </EmptyState>
            ) : (
              <DataTable
                label="Skills"
                columns={columnsOf(show, mayChange ? remove : undefined)}
                rows={data}
                keyOf={({ id }) => id}
              />
            )
          }
        </Loaded>
      </Section>
      {shown !== undefined && (
        <Dialog title={`Findings in “${shown.name}”`} onClose={() => show(undefined)}>
          <Findings findings={shown.findings} />
          <DialogActions>
            <Button onClick={() => show(undefined)}>Close</Button>
          </DialogActions>
        </Dialog>
      )}
      {deleting !== undefined && <DeleteDialog skill={deleting} onClose={() => remove(undefined)} />}
    </Page>
  );
}

type Act = (skill: Skill) => void;

const columnsOf = (show: Act, remove: Act | undefined): readonly Column<Skill>[] => [
  {
    header: 'Name',
    cell: ({ name, description }) => (
      <span className="flex min-w-0 flex-col gap-0.5">
        <span className="wrap-anywhere">{name}</span>
        <bdi className="line-clamp-2 text-[0.8125rem] font-normal wrap-anywhere text-muted">{description}</bdi>
      </span>
    ),
  },
  { header: 'Version', cell: ({ version }) => <span className="tabular-nums">{formatNumber(version)}</span> },
  { header: 'Agents', cell: ({ agents }) => <span className="tabular-nums">{formatNumber(agents)}</span> },
  { header: 'From', cell: ({ source }) => <span className="wrap-anywhere">{fromWords(source)}</span> },
  {
    header: 'Findings',
    cell: (skill) =>
      skill.findings.length === 0 ? (
        <span className="text-muted">None</span>
      ) : (
        <Button small onClick={() => show(skill)}>
          {skill.findings.length === 1 ? '1 finding' : `${formatNumber(skill.findings.length)} findings`}
          <span className="sr-only">in {skill.name}</span>
        </Button>
      ),
  },
  { header: 'Updated', cell: ({ updated_at: updated }) => <Time value={updated} /> },
  ...(remove === undefined
    ? []
    : [
        {
          header: 'Actions',
          actions: true,
          cell: (skill: Skill) => (
            <Button
              small
              variant="ghost-danger"
              aria-label={`Delete ${skill.name}`}
              onClick={() => remove(skill)}
              className="max-md:-ml-3 md:-my-1.5 md:-mr-3"
            >
              Delete
            </Button>
          ),
        },
      ]),
];

const fromWords = ({ kind, url, name, slug }: Skill['source']): string =>
  kind === 'upload' ? 'An upload' : (url ?? [name, slug].filter(Boolean).join(': '));

function DeleteDialog({ skill, onClose }: { readonly skill: Skill; readonly onClose: () => void }) {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      title={`Delete “${skill.name}”?`}
      action="Delete skill"
      run={() => change(() => lodge.skills.delete(skill.id))}
      onClose={onClose}
      onDone={() => {
        toast(`“${skill.name}” is deleted.`);
        void client.invalidateQueries(skillsQuery);
      }}
    >
      It is deleted with all its versions. This cannot be undone.
    </ConfirmDialog>
  );
}
