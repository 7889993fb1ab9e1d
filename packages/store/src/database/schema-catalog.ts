import type { Client } from 'pg';

/**
 * The objects from which schema.sql is printed: those of the schema `public` that belong to no extension, each kind by name.
 */
export interface Catalog {
  readonly extensions: readonly string[];
  readonly tables: readonly Table[];
  /** Columns in the order of the table; names are quoted when needed. */
  readonly columns: readonly Column[];
  readonly constraints: readonly TablePart[];
  readonly indexes: readonly TablePart[];
  readonly functions: readonly Definition[];
  readonly views: readonly Definition[];
  readonly triggers: readonly Definition[];
  /**
   * Dependencies: `id` needs `needs`. Tables need others by foreign keys, and functions and views the objects that they call
   * and read.
   */
  readonly needs: readonly { readonly id: number; readonly needs: number }[];
  readonly comments: readonly { readonly object: string; readonly text: string }[];
}

export interface Definition {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
}

export interface Table {
  readonly id: number;
  readonly name: string;
  /** Storage parameters, as `with` takes them. */
  readonly options: string | null;
}

export interface Column {
  readonly table: number;
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  readonly default: string | null;
  readonly identity: 'ALWAYS' | 'BY DEFAULT' | null;
  readonly generated: 'STORED' | 'VIRTUAL' | null;
  /** Set when these differ from the type's own. */
  readonly storage: string | null;
  readonly collation: string | null;
}

export interface TablePart extends Definition {
  readonly table: number;
}

/** Reads the catalog. Throws for an object that schema.sql would leave out, and names it. */
export async function readCatalog(client: Client): Promise<Catalog> {
  const rows = async <Row extends object>(text: string): Promise<Row[]> => (await client.query<Row>(text)).rows;
  const left = await rows<{ object: string }>(leftOut);
  if (left.length > 0) {
    throw new Error(
      `schema.sql has no place for: ${left.map(({ object }) => object).join(', ')}. Teach its generator.`,
    );
  }
  const names = await rows<{ name: string }>("select extname as name from pg_extension where extname <> 'plpgsql'");
  return {
    extensions: names.map(({ name }) => name).toSorted(),
    tables: await rows(tables),
    columns: await rows(columns),
    constraints: await rows(constraints),
    indexes: await rows(indexes),
    functions: await rows(functions),
    views: await rows(views),
    triggers: await rows(triggers),
    needs: await rows(needs),
    comments: await rows(comments),
  };
}

const inPublic = "'public'::regnamespace";
const ofExtension = (catalog: string, id: string): string =>
  `exists (select from pg_depend where classid = '${catalog}'::regclass and objid = ${id} and deptype = 'e')`;

/** The schema's relations, which everything below shares. */
const relations = `select * from pg_class c where relnamespace = ${inPublic} and not ${ofExtension('pg_class', 'c.oid')}`;

const tables = `
  select oid::int as id, quote_ident(relname) as name, array_to_string(reloptions, ', ') as options
  from (${relations}) c where relkind = 'r' order by relname`;

const columns = `
  select attrelid::int as table, quote_ident(attname) as name, format_type(atttypid, atttypmod) as type,
    attnotnull as "notNull", pg_get_expr(adbin, adrelid, true) as default,
    case attidentity when 'a' then 'ALWAYS' when 'd' then 'BY DEFAULT' end as identity,
    case attgenerated when 's' then 'STORED' when 'v' then 'VIRTUAL' end as generated,
    case when attstorage <> typstorage then
      case attstorage when 'p' then 'PLAIN' when 'e' then 'EXTERNAL' when 'm' then 'MAIN' else 'EXTENDED' end
    end as storage,
    case when attcollation <> typcollation then attcollation::regcollation::text end as collation
  from pg_attribute a join pg_type t on t.oid = atttypid
    left join pg_attrdef d on adrelid = attrelid and adnum = attnum
  where attrelid in (select oid from (${relations}) c where relkind = 'r') and attnum > 0 and not attisdropped
  order by attrelid, attnum`;

/** Constraints without `not null`, which stands with its column. */
const constraints = `
  select oid::int as id, conrelid::int as table, quote_ident(conname) as name, pg_get_constraintdef(oid, true) as sql
  from pg_constraint
  where conrelid in (select oid from (${relations}) c where relkind = 'r') and contype in ('p', 'u', 'x', 'c', 'f')
  order by position(contype::text in 'puxcf'), conname`;

const indexes = `
  select indexrelid::int as id, indrelid::int as table, relname as name, pg_get_indexdef(indexrelid, 0, true) as sql
  from pg_index join (${relations}) c on c.oid = indexrelid
  where not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
  order by relname`;

const functions = `
  select oid::int as id, oid::regprocedure::text as name, rtrim(pg_get_functiondef(oid), E'\\n') as sql
  from pg_proc p where pronamespace = ${inPublic} and prokind in ('f', 'p') and not ${ofExtension('pg_proc', 'p.oid')}
  order by 2`;

const views = `
  select oid::int as id, quote_ident(relname) as name, rtrim(pg_get_viewdef(oid, true), ';') as sql
  from (${relations}) c where relkind = 'v' order by relname`;

const triggers = `
  select t.oid::int as id, tgname as name, pg_get_triggerdef(t.oid, true) as sql
  from pg_trigger t join (${relations}) c on c.oid = tgrelid where not tgisinternal order by relname, tgname`;

/** A table needs the objects of its indexes, constraints and defaults; a view those of its rule. */
const needs = `
  select distinct id::int, needs::int from (
    select conrelid as id, confrelid as needs from pg_constraint where contype = 'f'
    union all
    select coalesce(indrelid, conrelid, adrelid, ev_class, objid), refobjid
    from pg_depend
      left join pg_index on classid = 'pg_class'::regclass and indexrelid = objid
      left join pg_constraint con on classid = 'pg_constraint'::regclass and con.oid = objid
      left join pg_attrdef ad on classid = 'pg_attrdef'::regclass and ad.oid = objid
      left join pg_rewrite r on classid = 'pg_rewrite'::regclass and r.oid = objid
    where refclassid in ('pg_proc'::regclass, 'pg_class'::regclass)
      and classid in ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_attrdef'::regclass, 'pg_rewrite'::regclass, 'pg_proc'::regclass)
  ) d where id <> needs`;

const comments = `
  select case when objsubid = 0 then upper(i.type) else 'COLUMN' end || ' ' || i.identity as object,
    quote_literal(description) as text
  from pg_description d, pg_identify_object(classoid, objoid, objsubid) i
  where i.schema = 'public' and not exists (
    select from pg_depend e where e.classid = d.classoid and e.objid = d.objoid and deptype = 'e'
  )
  order by 1`;

/** Objects of other kinds in the schema, and properties of the kinds above that are not printed. */
const leftOut = `
  select pg_describe_object(classid, objid, 0) as object from pg_depend n
  where refclassid = 'pg_namespace'::regclass and refobjid = ${inPublic} and classid <> 'pg_extension'::regclass
    and not exists (select from pg_depend e where e.classid = n.classid and e.objid = n.objid and e.deptype = 'e')
    and not (classid = 'pg_proc'::regclass and (select prokind from pg_proc where oid = objid) in ('f', 'p'))
    and not (classid = 'pg_class'::regclass and (
      (select relkind from pg_class where oid = objid) in ('r', 'v')
      or exists (
        select from pg_depend i join pg_sequence on seqrelid = i.objid
        where i.classid = n.classid and i.objid = n.objid and deptype = 'i'
          and (seqstart, seqincrement, seqmin, seqcache, seqcycle) = (1, 1, 1, 1, false)
      )
    ))
  union all select 'the schema ' || nspname from pg_namespace
    where nspname !~ '^pg_' and nspname not in ('public', 'information_schema')
  union all select 'the rights, policies or persistence of ' || relname from (${relations}) c
    where relacl is not null or relrowsecurity or relpersistence <> 'p' or relispartition
  union all select 'the parents of ' || inhrelid::regclass from pg_inherits
  union all select 'the rule ' || rulename || ' of ' || c.relname from pg_rewrite join (${relations}) c on c.oid = ev_class
    where relkind <> 'v'
  union all select 'the trigger ' || tgname || ', which is off' from pg_trigger where tgenabled <> 'O'`;
