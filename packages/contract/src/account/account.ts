/**
 * Schemas of the account area, `/v1/account/...`: signing in, and the settings that a signed-in person makes for themselves
 * and others.
 */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { spendStanding } from './limits.ts';
import { invitedRoles } from '@lodge/domain';
import { PersonalAccount, Role } from './own-account.ts';
import { SpendLimit, SpendLimitInput } from './spend.ts';
import { nullable, oneOf, patterns, Timestamp } from '../text.ts';

const closed = { additionalProperties: false } as const;
const closedLike = (title: string, ...examples: readonly object[]) => ({ title, ...closed, examples });

const ada = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery staple' };
const { password } = ada;

/** Some text, an @, some text. Nobody checks whether mail arrives there. */
export const emailPattern =
  '^[^\\s@\\u0000-\\u001f\\u007f\\ud800-\\udfff]+@[^\\s@\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$';

const Email = Type.String({ minLength: 3, maxLength: 254, pattern: emailPattern, examples: ['ada@example.com'] });
const NewPassword = Type.String({ minLength: 12, maxLength: 256, pattern: patterns.text });
/** A password that was set some time ago. Checking its minimum length would add nothing. */
const Password = Type.String({ maxLength: 256, pattern: patterns.text });
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: patterns.text });
const LinkToken = Type.String({ maxLength: 128 });
/** Six digits, or a recovery code. */
const Code = Type.String({ minLength: 1, maxLength: 64 });

export const LinkQuestion = Type.Object({ token: LinkToken }, closedLike('ReadAccountLink', { token: '<TOKEN>' }));
export const JoinByLink = Type.Object(
  { token: LinkToken, email: Email, name: Name, password: NewPassword },
  closedLike('JoinByLink', { token: '<TOKEN>', ...ada }),
);
export const Register = Type.Object({ email: Email, name: Name, password: NewPassword }, closedLike('Register', ada));
export const SignIn = Type.Object(
  { email: Type.String({ maxLength: 254 }), password: Password, code: Type.Optional(Code) },
  closedLike('SignIn', { email: ada.email, password }, { email: ada.email, password, code: '123456' }),
);
export const ChangePassword = Type.Object(
  { current_password: Password, new_password: NewPassword },
  closedLike('ChangePassword', { current_password: password, new_password: 'a pot of very strong tea' }),
);
export const ResetPassword = Type.Object(
  { token: LinkToken, password: NewPassword, code: Type.Optional(Code) },
  closedLike('ResetPassword', { token: '<TOKEN>', password }),
);
export const BeginTotp = Type.Object({ password: Password }, closedLike('BeginTotp', { password }));
export const ConfirmTotp = Type.Object({ code: Code }, closedLike('ConfirmTotp', { code: '123456' }));
export const RemoveTotp = Type.Object(
  { password: Password, code: Code },
  closedLike('RemoveTotp', { password, code: '123456' }),
);
export const CreateInvitation = Type.Object(
  {
    email: Type.Optional(
      nullable({ ...Email, description: 'The only one that may accept it; null: whoever has the link.' }),
    ),
    role: Type.Optional(oneOf(invitedRoles, { default: 'member', description: 'Of the account that it makes.' })),
  },
  closedLike('CreateInvitation', { email: 'bo@example.com', role: 'member' }),
);

export const SetSpendLimit = Type.Object(
  { spend_limit: nullable(SpendLimitInput) },
  closedLike('SetSpendLimit', { spend_limit: { monthly_usd: '12.50', action: 'block' } }),
);
/** `spend_limit` is the account's own; with null the deployment's applies. */
export const AccountSpend = Type.Object(
  { ...spendStanding, spend_limit: nullable(SpendLimit) },
  { title: 'AccountSpend' },
);
export type AccountSpend = Static<typeof AccountSpend>;

export const SessionBody = Type.Object(
  {
    session: Type.Object({ id: Type.String(), created_at: Timestamp, expires_at: Timestamp }),
    account: PersonalAccount,
    csrf_token: Type.String(),
  },
  { title: 'SessionBody' },
);
export type SessionBody = Static<typeof SessionBody>;

export const AccountOptions = Type.Object(
  { registration_open: Type.Boolean(), api_base_url: Type.String() },
  { title: 'AccountOptions' },
);
export type AccountOptions = Static<typeof AccountOptions>;

export const AccountLink = Type.Object(
  {
    kind: oneOf(['owner', 'invite', 'reset']),
    email: nullable(Type.String()),
    expires_at: Timestamp,
  },
  { title: 'AccountLink' },
);
export type AccountLink = Static<typeof AccountLink>;

export const SessionRecord = Type.Object(
  {
    id: Type.String(),
    created_at: Timestamp,
    last_seen_at: Timestamp,
    expires_at: Timestamp,
    address: Type.String(),
    user_agent: nullable(Type.String()),
    current: Type.Boolean({ description: 'Whether it is the one that asks.' }),
  },
  { title: 'SessionRecord' },
);
export type SessionRecord = Static<typeof SessionRecord>;
export const SessionList = Type.Object({ data: Type.Array(SessionRecord) }, { title: 'SessionList' });

export const TotpBegun = Type.Object({ secret: Type.String(), otpauth_url: Type.String() }, { title: 'TotpBegun' });
export const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) }, { title: 'RecoveryCodes' });

const invitationFields = {
  id: Type.String(),
  email: nullable(Type.String()),
  role: Role,
  created_at: Timestamp,
  expires_at: Timestamp,
  accepted_at: nullable(Timestamp),
};
export const Invitation = Type.Object(invitationFields, { title: 'Invitation' });
export type Invitation = Static<typeof Invitation>;
export const CreatedInvitation = Type.Object(
  { ...invitationFields, url: Type.String() },
  { title: 'CreatedInvitation' },
);
export const InvitationList = Type.Object({ data: Type.Array(Invitation) }, { title: 'InvitationList' });

export const Person = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    email: nullable(Type.String()),
    role: Role,
    created_at: Timestamp,
    agents: Type.Integer(),
    spend_limit: nullable(SpendLimit),
  },
  { title: 'Person' },
);
export type Person = Static<typeof Person>;
export const PersonList = Type.Object({ data: Type.Array(Person) }, { title: 'PersonList' });
export const Nothing = Type.Object({}, closed);
