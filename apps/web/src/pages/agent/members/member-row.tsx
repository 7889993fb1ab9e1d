import { Link } from '@tanstack/react-router';
import type { AgentMember } from '@lodge/sdk';
import { Pencil, Trash2 } from 'lucide-react';
import { Badge, Code } from '../../../components/badge.tsx';
import { IconButton } from '../../../components/button.tsx';
import { withoutTurning } from '../../../components/markdown/bounds.ts';
import { pathTo } from '../../../paths.ts';
import { useMay } from '../../../session.ts';

interface MemberRowProps {
  readonly member: AgentMember;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

const maxShown = 400;

export function MemberRow({ member, onEdit, onRemove }: MemberRowProps) {
  const mayChange = useMay('agents:write');
  const { agent_id: agentId, name, model, instructions, workspace, pending } = member;
  const words = instructions ?? '';
  return (
    <li className="flex items-start gap-x-4 px-5 py-4 sm:px-6">
      <div className="flex min-w-0 grow flex-col gap-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
          {name}
          {pending && <Badge tone="warning">Not in effect yet</Badge>}
        </p>
        <p className="wrap-anywhere text-muted">{model ?? 'The agent’s own model'}</p>
        <p dir="auto" className="line-clamp-3 max-w-prose wrap-anywhere whitespace-pre-line text-muted">
          {words === '' ? 'Without instructions.' : withoutTurning(words.slice(0, maxShown))}
        </p>
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 pt-1 text-[0.8125rem] text-muted">
          <span>
            Folder <Code>{workspace}</Code>
          </span>
          {mayChange && (
            <Link
              to={pathTo('/agents/$agentId/chat', agentId)}
              search={{ member: name }}
              className="text-accent underline underline-offset-2"
            >
              Talk to {name}
            </Link>
          )}
        </p>
      </div>
      {mayChange && (
        <div className="flex gap-1">
          <IconButton label={`Edit ${name}`} onClick={onEdit}>
            <Pencil aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={`Remove ${name}`} onClick={onRemove}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        </div>
      )}
    </li>
  );
}
