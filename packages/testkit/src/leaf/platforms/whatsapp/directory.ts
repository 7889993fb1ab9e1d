/** Everybody at WhatsApp: persons, those of them with an account and a linked device, and groups. */
import { Account } from './account.ts';
import { userOf } from './nodes.ts';
import { Person } from './person.ts';

export interface Group {
  readonly jid: string;
  readonly title: string;
  readonly members: readonly Person[];
}

export class Directory {
  readonly groups = new Map<string, Group>();
  private readonly persons = new Map<string, Person>();
  private readonly accounts = new Map<string, Account>();

  /** The person with this number; made when there is none. */
  person(number: string, name: string): Person {
    const known = this.persons.get(number);
    if (known) return known;
    const person = new Person(number, name);
    this.persons.set(person.number, person);
    this.persons.set(person.lidNumber, person);
    return person;
  }

  account(number: string, name: string): Account {
    const phone = this.person(number, name);
    const account = this.accounts.get(phone.number) ?? new Account(phone);
    this.accounts.set(phone.number, account);
    this.accounts.set(phone.lidNumber, account);
    return account;
  }

  group(title: string, members: readonly Person[]): Group {
    const group = { jid: `1203630${this.groups.size + 1}@g.us`, title, members };
    this.groups.set(group.jid, group);
    return group;
  }

  personOf(jid: string): Person | undefined {
    return this.persons.get(userOf(jid));
  }

  accountOf(jid: string): Account | undefined {
    return this.accounts.get(userOf(jid));
  }
}
