/*
 * The project around a folder: its root as Buck2 finds it, and its name.
 * Source: buck2 app/buck2_common/src/invocation_roots.rs at e26331d4a2.
 */
#ifndef BR2_PROJECT_H
#define BR2_PROJECT_H

/*
 * The project root above `dir` (absolute) as Buck2 finds it: the furthest
 * ancestor with a .buckconfig, ending at one with a .buckroot, and before
 * `home` (may be NULL) if that has a .buckconfig. NULL: none. Caller frees.
 */
char *project_find_root(const char *dir, const char *home);
/*
 * `name` of <root>/project.json, else (no such file, not JSON, no name in it)
 * the base name of root. Never NULL; caller frees.
 */
char *project_name(const char *root);

#endif
