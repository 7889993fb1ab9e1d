/** Schemas of the account area's own API, `/account/api`: for its pages, by session, no part of `/v1`. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { ErrorType } from './errors.ts';
import { spendStanding } from './limits.ts';
import { scopes } from './scopes.ts';
import type { Scope } from './scopes.ts';
import { SpendLimit } from './spend.ts';
import { nullable, oneOf, patterns, Timestamp } from './text.ts';

/** Error codes that only the account area answers with, beside those of `errorCodes`. */
export const accountErrorCodes = {
  not_signed_in: { status: 401, type: 'authentication_error' },
  invalid_credentials: { status: 401, type: 'authentication_error' },
  second_factor_required: { status: 401, type: 'authentication_error' },
  invalid_code: { status: 401, type: 'authentication_error' },
  csrf_refused: { status: 403, type: 'authorization_error' },
  owner_only: { status: 403, type: 'authorization_error' },
  registration_closed: { status: 403, type: 'authorization_error' },
  link_not_valid: { status: 404, type: 'not_found_error' },
  session_not_found: { status: 404, type: 'not_found_error' },
  key_not_found: { status: 404, type: 'not_found_error' },
  invitation_not_found: { status: 404, type: 'not_found_error' },
  account_not_found: { status: 404, type: 'not_found_error' },
  email_taken: { status: 409, type: 'invalid_request_error' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly type: ErrorType }>>;
export type AccountErrorCode = keyof typeof accountErrorCodes;

const closed = { additionalProperties: false } as const;

/** Something, an @, something: whether mail arrives there is not looked at. */
export const emailPattern =
  '^[^\\s@\\u0000-\\u001f\\u007f\\ud800-\\udfff]+@[^\\s@\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$';

const Email = Type.String({ minLength: 3, maxLength: 254, pattern: emailPattern });
const NewPassword = Type.String({ minLength: 12, maxLength: 256, pattern: patterns.text });
/** One that was set some time ago: its length tells nothing new. */
const Password = Type.String({ maxLength: 256, pattern: patterns.text });
const Name = Type.String({ minLength: 1, maxLength: 100, pattern: patterns.text });
const LinkToken = Type.String({ maxLength: 128 });
/** Six digits, or a recovery code. */
const Code = Type.String({ minLength: 1, maxLength: 64 });

export const LinkQuestion = Type.Object({ token: LinkToken }, closed);
export const JoinByLink = Type.Object({ token: LinkToken, email: Email, name: Name, password: NewPassword }, closed);
export const Register = Type.Object({ email: Email, name: Name, password: NewPassword }, closed);
export const SignIn = Type.Object(
  { email: Type.String({ maxLength: 254 }), password: Password, code: Type.Optional(Code) },
  closed,
);
export const ChangePassword = Type.Object({ current_password: Password, new_password: NewPassword }, closed);
export const ResetPassword = Type.Object(
  { token: LinkToken, password: NewPassword, code: Type.Optional(Code) },
  closed,
);
export const BeginTotp = Type.Object({ password: Password }, closed);
export const ConfirmTotp = Type.Object({ code: Code }, closed);
export const RemoveTotp = Type.Object({ password: Password, code: Code }, closed);
export const CreateKey = Type.Object(
  {
    name: Name,
    scopes: Type.Array(oneOf(Object.keys(scopes) as Scope[]), { minItems: 1, maxItems: Object.keys(scopes).length }),
    expires_at: Type.Optional(nullable(Type.String({ maxLength: 40 }))),
  },
  closed,
);
export const CreateInvitation = Type.Object({ email: Type.Optional(nullable(Email)) }, closed);

export const SetSpendLimit = Type.Object({ spend_limit: nullable(SpendLimit) }, closed);
/** `spend_limit`: the account's own; where it is null, the deployment's holds. */
export const AccountSpend = Type.Object({ ...spendStanding, spend_limit: nullable(SpendLimit) });
export type AccountSpend = Static<typeof AccountSpend>;

const Role = oneOf(['owner', 'member']);

export const AccountRecord = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: nullable(Type.String()),
  role: Role,
  totp_enabled: Type.Boolean(),
  /** What is said in its agents' model calls is kept for a while. */
  record_llm_calls: Type.Boolean(),
  created_at: Timestamp,
});
export type AccountRecord = Static<typeof AccountRecord>;

export const SessionBody = Type.Object({
  session: Type.Object({ id: Type.String(), created_at: Timestamp, expires_at: Timestamp }),
  account: AccountRecord,
  csrf_token: Type.String(),
});
export type SessionBody = Static<typeof SessionBody>;

export const AccountOptions = Type.Object({ registration_open: Type.Boolean(), api_base_url: Type.String() });
export const LinkBody = Type.Object({
  kind: oneOf(['owner', 'invite', 'reset']),
  email: nullable(Type.String()),
  expires_at: Timestamp,
});

export const SessionRecord = Type.Object({
  id: Type.String(),
  created_at: Timestamp,
  last_seen_at: Timestamp,
  expires_at: Timestamp,
  address: Type.String(),
  user_agent: nullable(Type.String()),
  current: Type.Boolean(),
});
export const SessionList = Type.Object({ data: Type.Array(SessionRecord) });

export const TotpBegun = Type.Object({ secret: Type.String(), otpauth_url: Type.String() });
export const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) });

const keyFields = {
  id: Type.String(),
  name: Type.String(),
  last4: Type.String(),
  scopes: Type.Array(oneOf(Object.keys(scopes) as Scope[])),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  revoked_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
};
export const KeyRecord = Type.Object(keyFields);
export type KeyRecord = Static<typeof KeyRecord>;
export const CreatedKey = Type.Object({ ...keyFields, key: Type.String() });
export const KeyList = Type.Object({ data: Type.Array(KeyRecord) });

const invitationFields = {
  id: Type.String(),
  email: nullable(Type.String()),
  created_at: Timestamp,
  expires_at: Timestamp,
  accepted_at: nullable(Timestamp),
};
export const Invitation = Type.Object(invitationFields);
export type Invitation = Static<typeof Invitation>;
export const CreatedInvitation = Type.Object({ ...invitationFields, url: Type.String() });
export const InvitationList = Type.Object({ data: Type.Array(Invitation) });

export const MemberList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      email: nullable(Type.String()),
      role: Role,
      created_at: Timestamp,
      agents: Type.Integer(),
      spend_limit: nullable(SpendLimit),
    }),
  ),
});
export const Nothing = Type.Object({}, closed);
