import type { AgentMember } from '@lodge/ports';
import type { ColumnType } from 'kysely';

/** A column of JSON, which pg parses when it is read, and which is written as text. */
export type JsonColumn<Value> = ColumnType<Value, string, string>;

/** A member from JSON, which has no dates. */
export type MemberJson = Omit<AgentMember, 'createdAt'> & { readonly createdAt: string };
